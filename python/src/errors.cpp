#include "python/src/errors.hpp"

#include <nanobind/nanobind.h>

#include <exception>

#include "base/error.hpp"

namespace narrowcast::python {
namespace {

namespace nb = nanobind;

const char* name_of(Fault fault) {
  switch (fault) {
    case Fault::usage:
      return "UsageError";
    case Fault::wire:
      return "WireError";
    case Fault::peer:
      return "PeerError";
    case Fault::system:
      break;
  }
  return "MachineError";
}

void translate(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const nb::object type = nb::module_::import_("narrowcast._errors").attr(name_of(error.fault()));
    PyErr_SetString(type.ptr(), error.what());
  }
}

}  // namespace

void translate_errors() { nb::register_exception_translator(translate); }

}  // namespace narrowcast::python
