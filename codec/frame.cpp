// docs/wire.md has the layout; this file and that page change together.
#include "codec/frame.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/checksum.hpp"
#include "base/error.hpp"

namespace narrowcast {
namespace {

// The first byte is no ASCII and no UTF-8 start, and the line ends show what text-mode transfers do
// to a file.
constexpr std::array<unsigned char, 8> kMagic = {0x8e, 'N', 'C', 'F', 0x0d, 0x0a, 0x1a, 0x0a};
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kMaxSpec = 256;

struct Header {
  std::array<unsigned char, 8> magic = kMagic;
  std::uint16_t version = kVersion;
  std::uint16_t spec_bytes = 0;
  std::uint32_t reserved = 0;
  std::uint64_t count = 0;
  std::uint64_t payload_bytes = 0;
};
static_assert(sizeof(Header) == 32);

constexpr std::size_t kChecksumBytes = sizeof(std::uint64_t);

// A reader stores what a frame announces, so a small frame must not announce much: see
// docs/wire.md, "Limits". Only a codec of variable size comes near, with long runs of zeros.
constexpr std::uint64_t kMaxValuesPerByte = 4096;
constexpr std::uint64_t kAlwaysAllowed = 1 << 20;

bool plausible(std::uint64_t count, std::uint64_t payload_bytes) {
  return count <= kAlwaysAllowed || count / kMaxValuesPerByte <= payload_bytes;
}

[[noreturn]] void broken(const std::string& why) {
  throw Error(Fault::wire, "broken frame: " + why);
}

Header read_header(Bytes frame) {
  if (frame.empty()) broken("it is empty");
  const std::size_t seen = std::min(frame.size(), kMagic.size());
  const auto same = [](std::byte byte, unsigned char magic) {
    return std::to_integer<unsigned char>(byte) == magic;
  };
  if (!std::ranges::equal(frame.first(seen), std::span(kMagic).first(seen), same))
    broken("this is not a narrowcast frame");
  if (frame.size() < sizeof(Header) + kChecksumBytes) broken("it ends within its header");
  const auto header = get<Header>(frame);
  if (header.version != kVersion)
    broken("version " + std::to_string(header.version) + ", and this program reads version " +
           std::to_string(kVersion));
  if (header.reserved != 0) broken("a reserved field is not zero");
  if (header.spec_bytes == 0 || header.spec_bytes > kMaxSpec) broken("impossible spec length");
  return header;
}

// Subtracts instead of adding, so that no announced length can overflow.
void check_length(Bytes frame, const Header& header) {
  std::uint64_t left = frame.size() - sizeof(Header) - kChecksumBytes;
  if (left < header.spec_bytes) broken("it ends within its spec");
  left -= header.spec_bytes;
  if (left < header.payload_bytes) broken("it ends within its payload");
  if (left > header.payload_bytes) broken("bytes follow the frame");
}

// Before anything quotes the spec: what cannot be printed must not reach a terminal.
void check_printable(const std::string& spec) {
  if (!std::ranges::all_of(spec, [](char c) { return c >= 0x21 && c <= 0x7e; }))
    broken("its spec is not printable ASCII");
}

std::unique_ptr<Codec> codec_of(const std::string& spec) {
  check_printable(spec);
  const auto made = [&] {
    try {
      return make_codec(spec);
    } catch (const Error& error) {
      broken(error.what());
    }
  };
  std::unique_ptr<Codec> codec = made();
  if (codec->spec() != spec) broken("its spec is not in canonical form");
  return codec;
}

void check_count(const Codec& codec, const FrameInfo& info) {
  if (!plausible(info.count, info.payload.size()))
    broken("it announces more values than its payload can hold");
  // The first check keeps these from overflowing.
  if (info.payload.size() < codec.min_bytes(info.count) ||
      info.payload.size() > codec.max_bytes(info.count))
    broken("its payload has the wrong length for " + std::to_string(info.count) + " values");
}

struct OpenFrame {
  FrameInfo info;
  std::unique_ptr<Codec> codec;
};

OpenFrame open_frame(Bytes frame) {
  const Header header = read_header(frame);
  check_length(frame, header);
  const Bytes covered = frame.first(frame.size() - kChecksumBytes);
  FrameInfo info{.version = header.version,
                 .spec = std::string(reinterpret_cast<const char*>(frame.data()) + sizeof(Header),
                                     header.spec_bytes),
                 .count = header.count,
                 .payload = covered.subspan(sizeof(Header) + header.spec_bytes),
                 .checksum = get<std::uint64_t>(frame.subspan(covered.size()))};
  if (info.checksum != checksum(covered)) broken("its checksum does not match");
  std::unique_ptr<Codec> codec = codec_of(info.spec);
  check_count(*codec, info);
  return {std::move(info), std::move(codec)};
}

}  // namespace

double compression_ratio(const FrameInfo& info) {
  if (info.payload.empty()) return 1;
  return sizeof(float) * static_cast<double>(info.count) / static_cast<double>(info.payload.size());
}

std::vector<std::byte> write_frame(const Codec& codec, Floats values, const Encoding& how) {
  const std::string& spec = codec.spec();
  require(how.exponent == 0, Fault::usage, "a frame has no room for an exponent");
  if (spec.size() > kMaxSpec)
    throw Error(Fault::usage, "a frame has no room for a spec as long as '" + spec + "'");

  const std::size_t start = sizeof(Header) + spec.size();
  std::vector<std::byte> frame(start + codec.max_bytes(values.size()) + kChecksumBytes);
  const std::size_t used = codec.encode(values, MutableBytes(frame).subspan(start), how);
  if (!plausible(values.size(), used))
    throw Error(Fault::usage, "these values take fewer bits than a frame accepts with '" + spec +
                                  "'; choose a codec of fixed size");
  put(MutableBytes(frame), Header{.spec_bytes = static_cast<std::uint16_t>(spec.size()),
                                  .count = values.size(),
                                  .payload_bytes = used});
  copy(std::as_bytes(std::span(spec)), MutableBytes(frame).subspan(sizeof(Header)));
  frame.resize(start + used + kChecksumBytes);
  const std::size_t covered = start + used;
  put(MutableBytes(frame).subspan(covered), checksum(Bytes(frame).first(covered)));
  return frame;
}

FrameInfo read_frame(Bytes frame) { return open_frame(frame).info; }

DecodedFrame read_and_decode(Bytes frame) {
  OpenFrame opened = open_frame(frame);
  std::vector<float> values(opened.info.count);
  opened.codec->decode(opened.info.payload, values);
  return {std::move(opened.info), std::move(values)};
}

std::vector<float> decode_frame(Bytes frame) { return read_and_decode(frame).values; }

}  // namespace narrowcast
