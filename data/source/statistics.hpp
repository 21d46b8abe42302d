#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "data/data.hpp"

namespace narrowcast {

// How often each byte occurs in each channel.
class Histogram {
 public:
  explicit Histogram(int channels) : counts_(static_cast<std::size_t>(channels)) {}

  void add(Bytes image);  // channel by channel
  Normal normal() const;

 private:
  std::vector<std::array<std::uint64_t, 256>> counts_;
};

// What an epoch of `images` has.
Normal normal_of(const Images& images);

// Of sizes, labels and some pixels.
std::uint64_t fingerprint_of(const Images& train, const Images& test);

}  // namespace narrowcast
