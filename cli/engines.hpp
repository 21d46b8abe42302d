#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace narrowcast::cli {

// A library that exchanges messages or computes for us, where it is installed.
struct Engine {
  std::string_view name;
  std::string_view module;  // that uses it, as find_module() has it
  std::string_view purpose;
  std::vector<std::string_view> libraries;  // shared objects, any of which shows that it is there
  std::vector<std::string_view> headers;    // relative to an include folder, for building with it
  std::string_view package;                 // of Debian, with the headers
};

struct EngineFound {
  std::filesystem::path library;  // empty: not found
  std::filesystem::path header;
  std::string version;  // as the library's file name has it; empty: not known
};

// The name of the file behind all links.
std::string library_file(const std::filesystem::path& library);

// What follows ".so." in it; empty when there is nothing. It is the version of the interface, which with MPI is
// not that of the engine.
std::string library_version(const std::filesystem::path& library);

std::span<const Engine> engines();

// Looks into the folders of the dynamic loader and the compiler; loads nothing.
EngineFound find_engine(const Engine& engine);

}  // namespace narrowcast::cli
