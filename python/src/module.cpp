#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "base/version.hpp"
#include "python/src/errors.hpp"
#include "python/src/parts.hpp"

NB_MODULE(_core, module) {
  using namespace narrowcast::python;
  translate_errors();
  module.def(
      "version", [] { return std::string(narrowcast::version()); }, "Of the library.");
  add_codecs(module);
}
