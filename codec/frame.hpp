#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codec/codec.hpp"

// A self-describing message: what it is, how it was encoded, and a checksum over all of it.
// docs/wire.md has the layout.
namespace narrowcast {

struct FrameInfo {
  int version = 0;
  std::string spec;
  std::uint64_t count = 0;     // values
  Bytes payload;               // borrowed from the frame
  std::uint64_t checksum = 0;  // XXH3-64 of every byte before it
};

// How many times smaller the payload is than the same values as float32; 1 for no values.
double compression_ratio(const FrameInfo& info);

std::vector<std::byte> write_frame(const Codec& codec, Floats values, const Encoding& how = {});

// Checks everything that can be checked without decoding: magic, version, lengths, checksum, spec.
// Anything wrong, also an empty input or bytes after the frame, is Fault::wire.
FrameInfo read_frame(Bytes frame);

struct DecodedFrame {
  FrameInfo info;
  std::vector<float> values;
};

// read_frame and decode; the second leaves out what the frame says of itself.
DecodedFrame read_and_decode(Bytes frame);
std::vector<float> decode_frame(Bytes frame);

}  // namespace narrowcast
