#include "transport/module.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <system_error>

#include "base/error.hpp"
#include "base/version.hpp"

namespace narrowcast {
namespace {

namespace fs = std::filesystem;

// With the file beside the loader's reason: "cannot open shared object file" alone reads like a
// missing module where in truth something that the module needs is missing.
Error cannot_load(const Module& module, const fs::path& file, const char* reason) {
  return {Fault::usage, fmt::format("{} cannot be loaded: {} ({}); apt-get install {}", module.name,
                                    reason, file.string(), module.package)};
}

// What others could have put there is never loaded: a program below /tmp has folders above it that are everybody's.
bool is_trusted(const fs::path& path) {
  struct stat found = {};
  struct stat program = {};
  if (stat(path.c_str(), &found) != 0 || stat("/proc/self/exe", &program) != 0) return false;
  const bool owned =
      found.st_uid == 0 || found.st_uid == geteuid() || found.st_uid == program.st_uid;
  return owned && (found.st_mode & S_IWOTH) == 0;
}

std::vector<fs::path> folders_beside_program() {
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  if (unknown) return {};
  const fs::path here = program.parent_path();
  std::vector<fs::path> folders = {here, here.parent_path() / "lib" / "narrowcast",
                                   here.parent_path() / NARROWCAST_LIBDIR / "narrowcast"};
  // A build tree has them at its top, and programs up to three folders below.
  fs::path above = here;
  for (int i = 0; i < 4; ++i, above = above.parent_path()) folders.push_back(above / "modules");
  return folders;
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

fs::path find_module(std::string_view name) {
  const std::string file = fmt::format("narrowcast_{}.so", name);
  std::error_code unreadable;
  const char* const asked = std::getenv("NARROWCAST_MODULES");
  if (asked != nullptr && fs::exists(fs::path(asked) / file, unreadable))
    return fs::path(asked) / file;
  for (const fs::path& folder : folders_beside_program())
    if (is_trusted(folder) && is_trusted(folder / file)) return folder / file;
  return {};
}

}  // namespace narrowcast
