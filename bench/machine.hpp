#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace narrowcast::bench {

// What measurements depend on. Fields that the system does not tell are "unknown" or 0.
struct Machine {
  std::string cpu;
  std::string system;
  std::string compiler;  // that built this program
  int cores = 0;         // that this process may use
  std::uint64_t memory_bytes = 0;
  std::uint64_t available_bytes = 0;

  double memory_gigabytes() const { return static_cast<double>(memory_bytes) / 1e9; }
  double available_gigabytes() const { return static_cast<double>(available_bytes) / 1e9; }
};

Machine this_machine();

// Fault::system when that many float32 tensors of that many values do not fit into what is
// available: a clear refusal instead of a machine that swaps or kills.
void require_memory_for_tensors(std::size_t tensors, std::size_t values);

}  // namespace narrowcast::bench
