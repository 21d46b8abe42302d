#include "codec/kernel/codebook.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

namespace narrowcast::kernel {

Codebook::Codebook(const std::array<float, 256>& values, Side positive, Side negative,
                   CodeOrder order)
    : values_(values),
      positive_(std::move(positive)),
      negative_(std::move(negative)),
      order_(order),
      low_bits_(widest_cells()),
      cells_(std::size_t{1} << (32 - low_bits_)) {
  fill_cells(Sign::positive);
  fill_cells(Sign::negative);
}

// The fewer cells, the less of the first-level cache they take.
int Codebook::widest_cells() const {
  const auto fits = [](const Side& side, int low) {
    const auto cell = [&](float x) { return std::bit_cast<std::uint32_t>(x) >> low; };
    return std::adjacent_find(side.thresholds.begin(), side.thresholds.end(),
                              [&](float a, float b) { return cell(a) == cell(b); }) ==
           side.thresholds.end();
  };
  int low = 18;
  while (!fits(positive_, low) || !fits(negative_, low)) --low;
  if (low < 15) throw std::logic_error("codebook: values too close for one byte a cell");
  return low;
}

void Codebook::fill_cells(Sign sign) {
  const Side& on = side(sign);
  const bool negative = sign == Sign::negative;
  const int low = low_bits_;
  const std::uint32_t low_mask = (1u << low) - 1;
  const std::size_t half = cells_.size() / 2;
  const std::span<std::uint32_t> cells = std::span(cells_).subspan(negative ? half : 0, half);
  const auto byte_of = [&](std::size_t rank) -> std::uint32_t {
    if (order_ == CodeOrder::ascending) return negative ? 0xffu ^ on.codes[rank] : on.codes[rank];
    return static_cast<std::uint32_t>(rank) | (negative ? 0x80u : 0u);
  };
  const auto threshold_in = [&](std::size_t rank, std::size_t cell) {
    return rank < on.thresholds.size() &&
           std::bit_cast<std::uint32_t>(on.thresholds[rank]) >> low == cell;
  };
  std::size_t rank = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::uint32_t byte = byte_of(rank);
    // Nothing exceeds a threshold of all ones: the byte below it only makes it larger.
    std::uint32_t entry = low_mask << place() | byte;
    if (threshold_in(rank, i)) {
      entry = (std::bit_cast<std::uint32_t>(on.thresholds[rank]) & low_mask) << place() | byte;
      if (order_ == CodeOrder::ascending) entry |= (byte_of(rank + 1) - byte) << kStepPlace;
      ++rank;
    }
    cells[i] = entry;
  }
}

}  // namespace narrowcast::kernel
