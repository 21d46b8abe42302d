#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "base/version.hpp"
#include "python/src/errors.hpp"
#include "python/src/parts.hpp"

NB_MODULE(_core, module) {
  using namespace narrowcast::python;
  translate_errors();
  // Models hold their hooks until the interpreter has gone, and so what these hold.
  nanobind::set_leak_warnings(false);
  module.def(
      "version", [] { return std::string(narrowcast::version()); }, "Of the library.");
  add_codecs(module);
  add_emulate(module);
  add_plans(module);
  add_net(module);
  add_turns(module);
  add_collectives(module);
  add_letters(module);
  add_exchange(module);
  add_advice(module);
}
