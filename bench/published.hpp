#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "codec/codec.hpp"

// Figures printed in papers, to stand beside ours.
namespace narrowcast::bench {

// Of T. Dettmers, 8-Bit Approximations for Parallelism in Deep Learning (ICLR 2016): 25 million
// samples. The paper calls the first figure mean absolute error; it is the mean squared error.
struct PublishedError {
  std::string_view codec;
  std::string_view distribution;
  double mean_squared = 0;
  double relative_percent = 0;
};

// The paper's four types as it used them, with its own rounding and with rounding to nearest.
std::span<const std::string_view> published_specs();

// What the paper printed for this codec, when it is one of published_specs().
std::optional<PublishedError> published_error(const Codec& codec, std::string_view distribution);

// The same paper's transfers of N x N matrices between two GPUs: how much faster 8 bits were than
// 32, where it has that N.
std::optional<double> published_transfer_speedup(std::size_t side);

}  // namespace narrowcast::bench
