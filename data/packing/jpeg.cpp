#include "data/packing/jpeg.hpp"

#include <fmt/core.h>
#include <turbojpeg.h>

#include "base/error.hpp"

namespace narrowcast::packing {
namespace {

constexpr int kMostSide = 1 << 15;
constexpr std::int64_t kMostPixels = std::int64_t{1} << 28;
// A block of 64 pixels takes two bits or more, and the runs of a progressive one a fraction of that.
constexpr std::int64_t kMostPixelsOfAByte = 1024;

const unsigned char* start_of(Bytes jpeg) {
  return reinterpret_cast<const unsigned char*>(jpeg.data());
}

[[noreturn]] void broken(tjhandle handle) {
  throw Error(Fault::wire, fmt::format("it is no good JPEG: {}", tjGetErrorStr2(handle)));
}

// Inks as Adobe's programs store them, which everyone does: 255 is none.
void inks_to_colours(const std::vector<std::byte>& inks, std::vector<std::byte>& colours) {
  for (std::size_t i = 0; i < inks.size() / 4; ++i) {
    const int black = std::to_integer<int>(inks[4 * i + 3]);
    for (std::size_t c = 0; c < 3; ++c)
      colours[3 * i + c] =
          static_cast<std::byte>((std::to_integer<int>(inks[4 * i + c]) * black + 127) / 255);
  }
}

}  // namespace

JpegReader::JpegReader() : handle_(tjInitDecompress()) {
  require(handle_ != nullptr, Fault::system, "libturbojpeg does not start");
}

JpegReader::~JpegReader() { tjDestroy(handle_); }

Picture JpegReader::read(Bytes jpeg) {
  require(!jpeg.empty(), Fault::wire, "it is empty");
  Picture picture;
  int subsampling = 0;
  int colours = 0;
  if (tjDecompressHeader3(handle_, start_of(jpeg), jpeg.size(), &picture.width, &picture.height,
                          &subsampling, &colours) != 0)
    broken(handle_);
  require(picture.height <= kMostSide && picture.width <= kMostSide &&
              std::int64_t{picture.height} * picture.width <= kMostPixels,
          Fault::wire, "it is too large to be true");
  require(std::int64_t{picture.height} * picture.width <=
              static_cast<std::int64_t>(jpeg.size()) * kMostPixelsOfAByte,
          Fault::wire, "it announces more pixels than so few bytes can hold");
  const bool inks = colours == TJCS_CMYK || colours == TJCS_YCCK;
  const int format = inks ? TJPF_CMYK : TJPF_RGB;
  const auto pixels =
      static_cast<std::size_t>(picture.height) * static_cast<std::size_t>(picture.width);
  std::vector<std::byte> values(pixels * (inks ? 4 : 3));
  // Warnings count: what is cut short decodes to grey.
  if (tjDecompress2(handle_, start_of(jpeg), jpeg.size(),
                    reinterpret_cast<unsigned char*>(values.data()), picture.width, 0,
                    picture.height, format, TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS) != 0)
    broken(handle_);
  if (!inks) {
    picture.values = std::move(values);
    return picture;
  }
  picture.values.resize(pixels * 3);
  inks_to_colours(values, picture.values);
  return picture;
}

void split_channels(const Picture& picture, MutableBytes out) {
  const std::size_t plane = out.size() / 3;
  for (std::size_t i = 0; i < plane; ++i)
    for (std::size_t c = 0; c < 3; ++c) out[c * plane + i] = picture.values[3 * i + c];
}

}  // namespace narrowcast::packing
