#include <cmath>

#include "emulate/kernel/tile.hpp"

// The specification of a term, as emulate/gemm.hpp has it.
namespace narrowcast::emulated {
namespace {

struct Place {
  std::size_t term;
  std::size_t row;
  std::size_t column;
};

class Rounder {
 public:
  Rounder(const Terms& terms, const Place& place) : terms_(terms), place_(place) {}

  float product(float x) const { return near(x, *terms_.product, Turn::product); }
  float sum(float x, Turn turn) const { return near(x, *terms_.sum, turn); }

 private:
  float near(float x, const kernel::Format& format, Turn turn) const {
    if (std::isnan(x)) return x;
    return kernel::rounded(x, format, random(format, turn));
  }

  std::uint32_t random(const kernel::Format& format, Turn turn) const {
    if (format.rounding != kernel::Rounding::stochastic) return 0;
    const auto& of_row = (*terms_.dice)[static_cast<std::size_t>(turn)][place_.row];
    return of_row[place_.term * kColumns + place_.column];
  }

  const Terms& terms_;
  Place place_;
};

float product_at(const Terms& terms, const Place& place, const Rounder& rounder) {
  return rounder.product(terms.a[place.term * kRows + place.row] *
                         terms.b[place.term * kColumns + place.column]);
}

template <class Step>
void each_place(const Terms& terms, Step step) {
  for (std::size_t term = 0; term < terms.count; ++term)
    for (std::size_t row = 0; row < kRows; ++row)
      for (std::size_t column = 0; column < kColumns; ++column) step(Place{term, row, column});
}

void add(const Terms& terms, Tile& tile) {
  each_place(terms, [&](const Place& place) {
    const Rounder rounder(terms, place);
    float& sum = tile.sum[place.row][place.column];
    sum = rounder.sum(sum + product_at(terms, place, rounder), Turn::sum);
  });
}

void add_compensated(const Terms& terms, Tile& tile) {
  each_place(terms, [&](const Place& place) {
    const Rounder rounder(terms, place);
    float& sum = tile.sum[place.row][place.column];
    float& rest = tile.rest[place.row][place.column];
    const float product = product_at(terms, place, rounder);
    const float addend = rounder.sum(product - rest, Turn::addend);
    const float next = rounder.sum(sum + addend, Turn::sum);
    const float difference = rounder.sum(next - sum, Turn::difference);
    const float too_much = rounder.sum(difference - addend, Turn::rest);
    rest = std::isfinite(too_much) ? too_much : 0;
    sum = next;
  });
}

}  // namespace

void scalar_tiles(Kernels& table) {
  table.add = add;
  table.add_compensated = add_compensated;
}

}  // namespace narrowcast::emulated
