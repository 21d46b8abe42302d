#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/team.hpp"
#include "bench/aligned.hpp"
#include "codec/codec.hpp"

namespace narrowcast::bench {

// Nanoseconds are for each value, and all of them from the same run.
struct CodecTime {
  std::string codec;
  std::size_t values = 0;
  int threads = 0;
  std::string target;
  double encode_ns = 0;
  double decode_ns = 0;
  double accumulate_ns = 0;
  double memcpy_ns = 0;  // the yardstick of bench/yardstick.hpp
  double bits_per_value = 0;

  // How many copies of the array each takes.
  double encode_ratio() const { return encode_ns / memcpy_ns; }
  double decode_ratio() const { return decode_ns / memcpy_ns; }
  double accumulate_ratio() const { return accumulate_ns / memcpy_ns; }
};

// The usual variants of every codec in the catalogue.
std::vector<std::string> all_variants();

// Times codecs on one tensor of gradient-like values.
class CodecBench {
 public:
  // What it holds at most: the input, what is decoded, and a message that is hardly ever larger.
  static constexpr std::size_t kTensors = 3;

  // Fault::system when the machine has not the memory for it. The team must outlive the bench.
  CodecBench(std::size_t values, Team& team);

  Floats input() const { return exact_; }

  // Takes about `seconds` for each of the operations and for the yardstick. What is measured is
  // checked first: a codec that breaks its promise is a Fault::system.
  CodecTime measure(std::string_view spec, double seconds);

 private:
  std::size_t encode_checked(const Codec& codec);

  Team& team_;
  AlignedFloats exact_;
  AlignedFloats landing_;
  AlignedBytes wire_;
};

}  // namespace narrowcast::bench
