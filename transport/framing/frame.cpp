#include "transport/framing/frame.hpp"

#include <cctype>

namespace narrowcast::framing {
namespace {

constexpr std::size_t kFrameMemory = std::size_t{64} << 20;  // of one rank, roughly
constexpr std::size_t kSmallestFrame = std::size_t{64} << 10;
constexpr std::size_t kLargestFrame = std::size_t{1} << 20;

}  // namespace

std::size_t frame_bytes(int ranks) {
  const std::size_t frames = 2 * kFrames * static_cast<std::size_t>(std::max(ranks - 1, 1));
  return std::clamp(kFrameMemory / frames, kSmallestFrame, kLargestFrame);
}

std::size_t finish_frame(MutableBytes memory, const Header& header) {
  put(memory.first(sizeof header), header);
  put(memory.subspan(sizeof header + header.length, sizeof header.number), header.number);
  return kFrameExtra + header.length;
}

bool holds_frame(Bytes memory, std::uint64_t number) {
  if (memory.size() < kFrameExtra) return false;
  const auto header = get<Header>(memory.first(sizeof(Header)));
  if (header.magic != kMagic || header.number != number ||
      header.length > memory.size() - kFrameExtra)
    return false;
  return get<std::uint64_t>(memory.subspan(sizeof header + header.length, sizeof number)) == number;
}

std::string printable(Bytes text) {
  std::string out;
  for (const std::byte byte : text) {
    const auto c = static_cast<unsigned char>(byte);
    out += std::isprint(c) != 0 ? static_cast<char>(c) : '?';
  }
  return out;
}

}  // namespace narrowcast::framing
