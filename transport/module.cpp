#include "transport/module.hpp"

#include <dlfcn.h>
#include <fmt/core.h>

#include <cstdlib>
#include <string>
#include <system_error>

#include "base/error.hpp"
#include "base/version.hpp"

namespace narrowcast {
namespace {

namespace fs = std::filesystem;

// A name of the C library's, because "cannot open shared object file" reads like a missing module
// where in truth something that the module needs is missing.
Error cannot_load(const Module& module, const fs::path& file, const char* reason) {
  return {Fault::usage, fmt::format("{} cannot be loaded: {} ({}); apt-get install {}", module.name,
                                    reason, file.string(), module.package)};
}

}  // namespace

std::string_view how_to_build() { return NARROWCAST_HOW_TO_BUILD; }

bool in_python_package() { return NARROWCAST_IN_PYTHON_PACKAGE; }

void* load_from(const Module& module, const char* symbol) {
  const fs::path file = find_module(module.name);
  if (file.empty())
    throw Error(Fault::usage, fmt::format("{} is not installed: apt-get install {}, then {}",
                                          module.name, module.package, how_to_build()));
  // Never closed: transports that came out of it run its code.
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw cannot_load(module, file, dlerror());
  void* const found = dlsym(handle, symbol);
  if (found == nullptr) throw cannot_load(module, file, dlerror());
  return found;
}

void check_module_version(std::string_view module, std::string_view program_version) {
  if (program_version != version())
    throw Error(Fault::usage, fmt::format("the {} module is of narrowcast {}, the program of {}",
                                          module, version(), program_version));
}

std::unique_ptr<Transport> join_module(const Module& module, const Joining& joining) {
  const std::string own_version(version());
  const auto join = reinterpret_cast<ModuleJoin>(load_from(module, "narrowcast_join"));
  return std::unique_ptr<Transport>(join(joining, own_version.c_str()));
}

std::vector<fs::path> module_folders() {
  std::vector<fs::path> folders;
  if (const char* asked = std::getenv("NARROWCAST_MODULES"); asked != nullptr && *asked != '\0')
    folders.emplace_back(asked);
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  if (!unknown) {
    const fs::path here = program.parent_path();
    folders.push_back(here);
    folders.push_back(here.parent_path() / "lib" / "narrowcast");
    folders.push_back(here.parent_path() / NARROWCAST_LIBDIR / "narrowcast");
    // A build tree has them at its top, and programs up to three folders below.
    fs::path above = here;
    for (int i = 0; i < 4; ++i, above = above.parent_path()) folders.push_back(above / "modules");
  }
  return folders;
}

fs::path find_module(std::string_view name) {
  const std::string file = fmt::format("narrowcast_{}.so", name);
  std::error_code unreadable;
  for (const fs::path& folder : module_folders())
    if (fs::exists(folder / file, unreadable)) return folder / file;
  return {};
}

}  // namespace narrowcast
