#include "bench/machine.hpp"

#include <fmt/core.h>
#include <sched.h>

#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

#include "base/error.hpp"

namespace narrowcast::bench {
namespace {

#if defined(__clang__)
constexpr std::string_view kCompiler = "clang " __clang_version__;
#else
constexpr std::string_view kCompiler = "g++ " __VERSION__;
#endif

// The text after the first `separator` in the first line that starts with `key`.
std::string field(const char* path, std::string_view key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t at = line.find(separator);
    const std::size_t start =
        at == std::string::npos ? at : line.find_first_not_of(" \t\"", at + 1);
    if (start == std::string::npos) break;
    return line.substr(start, line.find_last_not_of(" \t\"") + 1 - start);
  }
  return "unknown";
}

// Hypervisors call processors of several generations by one name ("AMD EPYC"): of the same family and model, they
// are one kind.
std::string processor() {
  constexpr const char* kPath = "/proc/cpuinfo";
  std::string name = field(kPath, "model name", ':');
  const std::string family = field(kPath, "cpu family", ':');
  if (family == "unknown") return name;
  return fmt::format("{}, family {} model {}", name, family, field(kPath, "model\t", ':'));
}

std::uint64_t memory_field(std::string_view key) {
  std::istringstream text(field("/proc/meminfo", key, ':'));
  std::uint64_t kibibytes = 0;
  text >> kibibytes;
  return kibibytes * 1024;
}

int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

Machine this_machine() {
  return {.cpu = processor(),
          .system = field("/etc/os-release", "PRETTY_NAME", '='),
          .compiler = std::string(kCompiler),
          .cores = usable_cores(),
          .memory_bytes = memory_field("MemTotal"),
          .available_bytes = memory_field("MemAvailable")};
}

void require_memory_for_tensors(std::size_t tensors, std::size_t values) {
  const std::uint64_t available = memory_field("MemAvailable");
  const std::size_t bytes_per_value = tensors * sizeof(float);
  if (values <= available / bytes_per_value) return;
  throw Error(Fault::system,
              fmt::format("{} values need {:.1f} GB of memory, and {:.1f} GB are available", values,
                          static_cast<double>(values) * static_cast<double>(bytes_per_value) / 1e9,
                          static_cast<double>(available) / 1e9));
}

}  // namespace narrowcast::bench
