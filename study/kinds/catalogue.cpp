#include <fmt/core.h>

#include <algorithm>

#include "base/error.hpp"
#include "study/kinds/rows.hpp"

namespace narrowcast {

std::span<const Kind> kinds() {
  static const Kind kRows[] = {train_kind(),     speed_kind(),  predict_kind(), transfer_kind(),
                               round_off_kind(), errors_kind(), paper_kind()};
  return kRows;
}

const Kind& kind_of(std::string_view name) {
  const auto found = std::ranges::find(kinds(), name, &Kind::name);
  if (found != kinds().end()) return *found;
  std::string names;
  for (const Kind& kind : kinds()) names += (names.empty() ? "" : ", ") + std::string(kind.name);
  throw Error(Fault::usage, fmt::format("no kind '{}'; there are: {}", name, names));
}

}  // namespace narrowcast
