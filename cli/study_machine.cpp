#include "cli/study_machine.hpp"

#include <fmt/core.h>
#include <sys/utsname.h>

#include "base/checksum.hpp"
#include "bench/machine.hpp"
#include "cli/engines.hpp"

namespace narrowcast::cli {

CellMachine cell_machine() {
  const bench::Machine machine = bench::this_machine();
  utsname system = {};
  uname(&system);
  const std::string node = system.nodename;
  // Told apart from others, and no more.
  const std::uint64_t mark = checksum(std::as_bytes(std::span(node)));
  CellMachine cell = {.name = fmt::format("{:08x}", mark & 0xffff'ffffU),
                      .cpu = machine.cpu,
                      .cores = machine.cores,
                      .memory_bytes = machine.memory_bytes,
                      .kernel = fmt::format("{} {}", system.sysname, system.release)};
  for (const Engine& engine : engines())
    if (const EngineFound found = find_engine(engine); !found.version.empty())
      cell.engines[std::string(engine.name)] = found.version;
  return cell;
}

}  // namespace narrowcast::cli
