#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "transport/join.hpp"

// Engines that are loaded when asked for, so that the program links none of them and starts fast
// where none is installed.
namespace narrowcast {

struct Module {
  std::string_view name;     // its file is narrowcast_<name>.so
  std::string_view package;  // the Debian package that it is built with
};

// What a module exports under the name `narrowcast_join`, extern "C": joins the ranks, and hands
// over what it made. `version` is that of the program; a module refuses any but its own by
// check_module_version(). Throws Error.
using ModuleJoin = Transport* (*)(const Joining& joining, const char* version);

void check_module_version(std::string_view module, std::string_view program_version);

// What the module exports under that name. One that is missing, or that the machine cannot load, is
// Fault::usage, saying what to install.
void* load_from(const Module& module, const char* symbol);

// What else has to be done where one is missing: "build narrowcast again". The Python package has none
// and cannot be built with any; there it says so.
std::string_view how_to_build();
bool in_python_package();

// Loads the module and joins through it.
std::unique_ptr<Transport> join_module(const Module& module, const Joining& joining);

// The file of that module; empty when there is none. Looked for in $NARROWCAST_MODULES, in the folder of the
// program and the lib folders beside it, and in `modules` at the top of its build tree; but for the first,
// only where nobody but root, this user or the owner of the program can have put it.
std::filesystem::path find_module(std::string_view name);

}  // namespace narrowcast
