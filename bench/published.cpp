#include "bench/published.hpp"

#include <algorithm>

namespace narrowcast::bench {
namespace {

constexpr std::string_view kSpecs[] = {
    "dynamic8:block=0,rounding=paper",
    "dynamic8:block=0",
    "linear8:block=0",
    "mantissa8:rounding=paper",
    "mantissa8",
    "static8:rounding=paper",
    "static8",
};

constexpr PublishedError kErrors[] = {
    {"dynamic8", "uniform", .00004, 1.39},   {"linear8", "uniform", .0024, 2.16},
    {"mantissa8", "uniform", .0017, 7.22},   {"static8", "uniform", .0007, 4.82},
    {"dynamic8", "normal", .0005, 2.46},     {"linear8", "normal", .0004, 6.47},
    {"mantissa8", "normal", .0104, 6.89},    {"static8", "normal", .0093, 6.3},
    {"dynamic8", "normal10", .049, 2.49},    {"linear8", "normal10", .041, 6.44},
    {"mantissa8", "normal10", 1.066, 7.19},  {"static8", "normal10", .926, 6.28},
    {"dynamic8", "normal.2", .000018, 2.45}, {"linear8", "normal.2", .000015, 6.15},
    {"mantissa8", "normal.2", .00055, 8.26}, {"static8", "normal.2", .00022, 6.58},
};

// Milliseconds for 100 matrices, with encoding and decoding.
struct PublishedTransfer {
  std::size_t side;
  double bits_32;
  double bits_8;
};
constexpr PublishedTransfer kTransfers[] = {{128, 2.11, 1.44}, {256, 5.5, 3.1},  {512, 19.8, 9.7},
                                            {1024, 75.4, 35},  {2048, 289, 134}, {5120, 1856, 858}};

}  // namespace

std::span<const std::string_view> published_specs() { return kSpecs; }

std::optional<PublishedError> published_error(const Codec& codec, std::string_view distribution) {
  const bool as_published = std::ranges::any_of(
      kSpecs, [&](std::string_view spec) { return make_codec(spec)->spec() == codec.spec(); });
  if (!as_published) return std::nullopt;
  const std::string_view name = std::string_view(codec.spec()).substr(0, codec.spec().find(':'));
  for (const PublishedError& error : kErrors)
    if (error.codec == name && error.distribution == distribution) return error;
  return std::nullopt;
}

std::optional<double> published_transfer_speedup(std::size_t side) {
  const auto found = std::ranges::find(kTransfers, side, &PublishedTransfer::side);
  if (found == std::end(kTransfers)) return std::nullopt;
  return found->bits_32 / found->bits_8;
}

}  // namespace narrowcast::bench
