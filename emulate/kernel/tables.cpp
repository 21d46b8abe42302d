#include <algorithm>
#include <vector>

#include "codec/target.hpp"
#include "emulate/kernel/tile.hpp"

namespace narrowcast::emulated {
namespace {

std::vector<Kernels> tables() {
  std::vector<Kernels> all(1);
  all[0].target = "scalar";
  scalar_tiles(all[0]);
  on_vector_targets([&](std::string_view name) {
    Kernels table{};
    table.target = name;
    simd_tiles(table);
    all.push_back(table);
  });
  return all;
}

}  // namespace

const Kernels& active() {
  static const std::vector<Kernels> all = tables();
  return *std::ranges::find(all, active_target(), &Kernels::target);
}

}  // namespace narrowcast::emulated
