#include "cli/engines.hpp"

#include <cstdlib>
#include <fstream>

namespace narrowcast::cli {
namespace {

using Folders = std::vector<std::filesystem::path>;

void add_from_environment(Folders& folders) {
  const char* text = std::getenv("LD_LIBRARY_PATH");
  std::string_view left = text == nullptr ? "" : text;
  while (!left.empty()) {
    const std::size_t colon = left.find(':');
    if (colon != 0) folders.emplace_back(left.substr(0, colon));
    left = colon == std::string_view::npos ? "" : left.substr(colon + 1);
  }
}

void add_from_loader(Folders& folders) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/etc/ld.so.conf.d", ignored)) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);)
      if (line.starts_with('/')) folders.emplace_back(line);
  }
}

Folders library_folders() {
  Folders folders;
  add_from_environment(folders);
  add_from_loader(folders);
  folders.insert(folders.end(), {"/usr/local/lib", "/usr/lib", "/lib", "/usr/lib64"});
  return folders;
}

Folders include_folders() {
  Folders folders = {"/usr/local/include", "/usr/include"};
  std::error_code ignored;
  for (const std::filesystem::path& each : library_folders()) {
    const std::filesystem::path beside = "/usr/include" / each.filename();  // multiarch
    if (std::filesystem::is_directory(beside, ignored)) folders.push_back(beside);
  }
  return folders;
}

std::filesystem::path first_existing(const Folders& folders,
                                     const std::vector<std::string_view>& names) {
  std::error_code ignored;
  for (const std::filesystem::path& folder : folders)
    for (const std::string_view name : names)
      if (std::filesystem::exists(folder / name, ignored)) return folder / name;
  return {};
}

}  // namespace

std::string library_file(const std::filesystem::path& library) {
  std::error_code missing;
  return std::filesystem::canonical(library, missing).filename().string();
}

std::string library_version(const std::filesystem::path& library) {
  constexpr std::string_view kMark = ".so.";
  const std::string file = library_file(library);
  const std::size_t mark = file.find(kMark);
  return mark == std::string::npos ? "" : file.substr(mark + kMark.size());
}

std::span<const Engine> engines() {
  static const Engine kEngines[] = {
      {"Gloo",
       "gloo",
       "messages over TCP between machines",
       {"libgloo.so", "libgloo.so.0"},
       {"gloo/context.h"},
       "libgloo-dev"},
      {"Open MPI",
       "openmpi",
       "messages on clusters",
       {"libmpi.so.40", "openmpi/lib/libmpi.so"},
       {"openmpi/mpi.h"},
       "libopenmpi-dev"},
      {"MPICH",
       "mpich",
       "messages on clusters",
       {"libmpich.so.12", "libmpich.so"},
       {"mpich/mpi.h"},
       "libmpich-dev"},
      {"libtorch",
       "train",
       "tensors and back-propagation",
       {"libtorch.so", "libtorch.so.1.13"},
       {"torch/csrc/api/include/torch/torch.h", "torch/torch.h"},
       "libtorch-dev"},
  };
  return kEngines;
}

EngineFound find_engine(const Engine& engine) {
  const std::filesystem::path library = first_existing(library_folders(), engine.libraries);
  return {.library = library,
          .header = first_existing(include_folders(), engine.headers),
          .version = library_version(library)};
}

}  // namespace narrowcast::cli
