#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/bytes.hpp"
#include "transport/transport.hpp"

// What travels where an engine carries buffers and knows nothing of messages. Each direction between
// two ranks is one stream of frames that the engine keeps in order; messages, heartbeats and farewells
// all go through it.
//
//   frame = header [64] | payload [header.length] | number u64, again
//
// Engines take a shorter frame than the receive it meets for success. So all receives are posted at
// the one size that no frame exceeds, and the number at the end shows that the whole frame came.
namespace narrowcast::framing {

enum class Kind : std::uint16_t {
  message = 2,  // a part of a message
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

inline constexpr std::size_t kLongestText = 400;  // of a farewell

// The number of frames under way in each direction between two ranks, and the most payload of one.
// The fewer frames the better for speed. All ranks have to come to the same answer.
inline constexpr std::size_t kFrames = 8;
std::size_t frame_bytes(int ranks);

// memcpy in small steps: glibc's way with tens of kilobytes falls to a twentieth of its speed when
// source and destination are aligned differently, as a caller's buffer and a frame often are.
inline void copy_in_steps(Bytes from, MutableBytes to) {
  constexpr std::size_t kStep = 2048;
  for (std::size_t i = 0; i < from.size(); i += kStep)
    std::memcpy(to.data() + i, from.data() + i, std::min(kStep, from.size() - i));
}

// Writes header and number around the payload that is there already. Returns the size of the frame.
std::size_t finish_frame(MutableBytes memory, const Header& header);

// Whether all of the frame of that number is in this memory.
bool holds_frame(Bytes memory, std::uint64_t number);

// What a peer says of itself, fit to be printed.
std::string printable(Bytes text);

}  // namespace narrowcast::framing
