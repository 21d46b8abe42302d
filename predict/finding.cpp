#include "predict/finding.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace narrowcast {

Finding finding_of(std::vector<double> values) {
  require(!values.empty(), Fault::system, "nothing was measured");
  std::ranges::sort(values);
  const auto at = [&](double part) {
    const long place = std::lround(part * static_cast<double>(values.size() - 1));
    return values[static_cast<std::size_t>(place)];
  };
  const double median = at(0.5);
  if (median <= 0) return {median, 0};
  // Of the median of so many: 1.25 standard deviations over their root.
  const double deviation = (at(5.0 / 6) - at(1.0 / 6)) / 2;
  return {median, 1.25 * deviation / median / std::sqrt(static_cast<double>(values.size()))};
}

}  // namespace narrowcast
