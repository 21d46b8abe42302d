#pragma once

#include <gloo/common/error.h>
#include <gloo/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "base/bytes.hpp"
#include "transport/framing/frame.hpp"
#include "transport/transport.hpp"

// Frames as Gloo carries them. It ends the process over one that is longer than the receive it meets.
namespace narrowcast::over_gloo {

using framing::Header;
using framing::kFrameExtra;
using framing::Kind;

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
    return framing::finish_frame({memory_.get(), size_}, header);
  }

  // Whether all of the frame of that number is here.
  bool holds(std::uint64_t number) const {
    return framing::holds_frame({memory_.get(), size_}, number);
  }

 private:
  struct Release {
    void operator()(std::byte* memory) const { std::free(memory); }
  };

  std::size_t size_;
  std::unique_ptr<std::byte, Release> memory_;
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer_;
};

}  // namespace narrowcast::over_gloo
