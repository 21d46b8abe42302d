#include "codec/target.hpp"

#include "codec/kernel/targets.h"
// After targets.h.

#include <hwy/targets.h>

#include <atomic>
#include <mutex>

#include "base/error.hpp"
#include "codec/kernel/kernels.hpp"

namespace narrowcast {
namespace {

using kernel::Kernels;

Kernels scalar_table() {
  Kernels table{};
  table.target = "scalar";
  kernel::scalar_vectors(table);
  kernel::scalar_levels(table);
  kernel::scalar_formats(table);
  kernel::scalar_signs(table);
  return table;
}

// The targets of this build, slowest first. Highway's portable emulation is left out: the scalar
// table does its work.
std::vector<std::int64_t> compiled() {
  std::vector<std::int64_t> targets;
  for (std::int64_t bit = HWY_EMU128 >> 1; bit > 0; bit >>= 1)
    if ((HWY_TARGETS & bit) != 0) targets.push_back(bit);
  return targets;
}

std::vector<Kernels> tables() {
  std::vector<Kernels> all{scalar_table()};
  on_vector_targets([&](std::string_view name) {
    Kernels table{};
    table.target = name;
    kernel::simd_vectors(table);
    kernel::simd_levels(table);
    kernel::simd_formats(table);
    kernel::simd_signs(table);
    all.push_back(table);
  });
  return all;
}

const std::vector<Kernels>& available() {
  static const std::vector<Kernels> all = tables();
  return all;
}

// Which table is in use: one word for the whole process, as the CPU is one for the whole process.
std::atomic<const Kernels*>& chosen() {
  static std::atomic<const Kernels*> table = &available().back();
  return table;
}

}  // namespace

const Kernels& kernel::active() { return *chosen().load(std::memory_order_acquire); }

std::vector<std::string> cpu_targets() {
  std::vector<std::string> names;
  for (const Kernels& table : available()) names.emplace_back(table.target);
  return names;
}

std::vector<std::string> compiled_targets() {
  std::vector<std::string> names{"scalar"};
  for (const std::int64_t target : compiled()) names.emplace_back(hwy::TargetName(target));
  return names;
}

// Highway is asked for one target at a time, and keeps no choice of ours afterwards.
void on_vector_targets(const std::function<void(std::string_view name)>& fill) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  const std::int64_t usable = hwy::SupportedTargets();
  for (const std::int64_t target : compiled()) {
    if ((usable & target) == 0) continue;
    hwy::GetChosenTarget().Update(target);
    fill(hwy::TargetName(target));
  }
  hwy::GetChosenTarget().DeInit();
}

std::string active_target() { return std::string(kernel::active().target); }

void use_target(std::string_view name) {
  for (const Kernels& table : available())
    if (table.target == name) return chosen().store(&table, std::memory_order_release);
  std::string valid;
  for (const std::string& target : cpu_targets()) valid += (valid.empty() ? "" : ", ") + target;
  throw Error(Fault::usage,
              "no CPU target \"" + std::string(name) + "\" here; there are: " + valid);
}

}  // namespace narrowcast
