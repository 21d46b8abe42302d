#pragma once

#include <vector>

#include "base/bytes.hpp"

namespace narrowcast::packing {

// Red, green and blue of each pixel, row by row.
struct Picture {
  int height = 0;
  int width = 0;
  std::vector<std::byte> values;
};

// Reads JPEGs: colour, grey (which becomes colour) and CMYK. One thread at a time.
class JpegReader {
 public:
  JpegReader();
  ~JpegReader();
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  // Fault::wire, without the name of the file, for everything that is not whole and well.
  Picture read(Bytes jpeg);

 private:
  void* handle_;
};

// The largest part around the middle that has the sides of the result, smoothly scaled to it.
Picture scaled(const Picture& picture, int height, int width);

// The same values, channel by channel.
void split_channels(const Picture& picture, MutableBytes out);

}  // namespace narrowcast::packing
