#include <fmt/core.h>

#include "base/error.hpp"
#include "collective/collective.hpp"

namespace narrowcast {

AllReduceRow direct_all_reduce();
AllReduceRow ring_all_reduce();
AllReduceRow hierarchy_all_reduce();
AllReduceRow gather_all_reduce();

std::span<const AllReduceRow> all_reduces() {
  static const AllReduceRow kRows[] = {direct_all_reduce(), ring_all_reduce(),
                                       hierarchy_all_reduce(), gather_all_reduce()};
  return kRows;
}

const AllReduceRow& all_reduce_row(std::string_view name) {
  std::string names;
  for (const AllReduceRow& row : all_reduces()) {
    if (row.name == name) return row;
    names += names.empty() ? "" : ", ";
    names += row.name;
  }
  throw Error(Fault::usage, fmt::format("there is no all-reduce '{}': {}", name, names));
}

}  // namespace narrowcast
