#pragma once

#include <gloo/common/error.h>
#include <gloo/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "base/bytes.hpp"
#include "transport/transport.hpp"

// What travels through Gloo. Each direction between two ranks is one stream of frames that Gloo
// keeps in order; messages, heartbeats and farewells all go through it.
//
//   frame = header [64] | payload [header.length] | number u64, again
//
// Gloo takes a shorter frame for success and ends the process over one that is longer than the
// receive it meets. So all receives are posted at the one size that no frame exceeds, and the number
// at the end shows that the whole frame came.
namespace narrowcast::over_gloo {

enum class Kind : std::uint16_t {
  message = 2,  // a part of a message; the first one is the hello
  alive = 3,    // heartbeat; sequence: how many frames of the receiver have been taken
  left = 4,     // nothing follows, and that is fine
  failed = 5,   // nothing follows; payload: what went wrong
};

inline constexpr std::uint32_t kMagic = 0x4c47'434e;  // "NCGL"

struct Header {
  std::uint32_t magic = kMagic;
  Kind kind = Kind::message;
  std::uint16_t reserved = 0;
  std::uint64_t number = 0;  // of this frame in its stream
  std::uint64_t total = 0;   // length of the whole message
  std::uint64_t offset = 0;  // of this part in it
  std::uint32_t length = 0;  // of this part
  Channel channel = 0;
  std::uint64_t sequence = 0;
  Stamp stamp = {};
};
static_assert(sizeof(Header) == 64);

inline constexpr std::size_t kFrameExtra = sizeof(Header) + sizeof(std::uint64_t);

// Gloo's own collectives leave the top bit of a tag alone.
inline std::uint64_t stream_tag(int from, int to) {
  return std::uint64_t{1} << 63 | std::uint64_t(from) << 31 | std::uint64_t(to);
}

// Gloo closes every connection when one of its waits runs out of time, so none of ours ever does.
inline constexpr std::chrono::milliseconds kForever = std::chrono::hours(24 * 365);

// Memory for one frame and Gloo's view of it. Destroying it takes it away from Gloo for good.
class Frame {
 public:
  Frame(gloo::Context& context, std::size_t most_payload)
      : size_(kFrameExtra + most_payload),
        memory_(static_cast<std::byte*>(std::aligned_alloc(64, (size_ + 63) / 64 * 64))),
        buffer_(context.createUnboundBuffer(memory_.get(), size_)) {
    // Memory that was a frame before holds none now.
    put({memory_.get(), sizeof(Header)}, Header{.magic = 0});
  }

  gloo::transport::UnboundBuffer& buffer() { return *buffer_; }
  std::size_t size() const { return size_; }

  Header header() const { return get<Header>({memory_.get(), sizeof(Header)}); }
  MutableBytes payload() { return {memory_.get() + sizeof(Header), size_ - kFrameExtra}; }

  // Around the payload that is there already. Returns the size of the frame.
  std::size_t finish(const Header& header) {
    put({memory_.get(), sizeof header}, header);
    put({payload().data() + header.length, sizeof header.number}, header.number);
    return kFrameExtra + header.length;
  }

  // Whether all of the frame of that number is here.
  bool holds(std::uint64_t number) const {
    const Header head = header();
    if (head.magic != kMagic || head.number != number || head.length > size_ - kFrameExtra)
      return false;
    const std::byte* const end = memory_.get() + sizeof head + head.length;
    return get<std::uint64_t>({end, sizeof number}) == number;
  }

 private:
  struct Release {
    void operator()(std::byte* memory) const { std::free(memory); }
  };

  std::size_t size_;
  std::unique_ptr<std::byte, Release> memory_;
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer_;
};

// memcpy in small steps: glibc's way with tens of kilobytes falls to a twentieth of its speed when
// source and destination are aligned differently, as a caller's buffer and a frame often are.
inline void copy_in_steps(Bytes from, MutableBytes to) {
  constexpr std::size_t kStep = 2048;
  for (std::size_t i = 0; i < from.size(); i += kStep)
    std::memcpy(to.data() + i, from.data() + i, std::min(kStep, from.size() - i));
}

}  // namespace narrowcast::over_gloo
