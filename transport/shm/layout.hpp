#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transport/transport.hpp"

// What lies in the shared memory:
//
//   SegmentHeader              written once by who made the segment, then only read
//   RankPage [ranks]           each written by its own rank, except for the bell
//   RingControl [ranks^2]      the ring from rank f to rank t is number f * ranks + t
//   ring bytes [ranks^2]
//
// In a ring, messages follow one another: a MessageHeader, the bytes, and a gap up to the next
// multiple of kCell. A rank trusts nothing of what another may have written.
namespace narrowcast::shm {

inline constexpr std::uint64_t kSegmentMagic = 0x314d48532d57434eu;  // "NCW-SHM1"
inline constexpr std::uint32_t kSegmentVersion = 1;
inline constexpr std::uint32_t kMessageMagic = 0x4753454du;  // "MESG"

inline constexpr std::size_t kPage = 4096;
inline constexpr std::size_t kCell = 64;  // positions in rings are multiples of this
// Two cache lines: the prefetcher fetches them in pairs.
inline constexpr std::size_t kApart = 128;

struct SegmentHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t ranks;
  std::uint64_t ring_bytes;
  std::uint64_t total_bytes;
};

enum class Presence : std::uint32_t { absent = 0, joined = 1, left = 2 };

// Why a rank gave up on another; tells third ranks whose fault it was.
enum class Reproach : std::uint32_t { none = 0, died = 1, silent = 2 };

struct alignas(kPage) RankPage {
  // A futex: 1 while the rank sleeps. Whoever has news for it sets 0 and wakes it.
  alignas(kApart) std::atomic<std::uint32_t> bell;
  alignas(kApart) std::atomic<Presence> presence;
  std::atomic<std::int32_t> pid;
  std::atomic<Reproach> reproach;
  std::atomic<std::int32_t> accused;               // the rank that `reproach` is about
  alignas(kApart) std::atomic<std::int64_t> beat;  // nanoseconds of CLOCK_MONOTONIC
};

// Positions count bytes since the start and never wrap.
struct RingControl {
  alignas(kApart) std::atomic<std::uint64_t> head;  // written by the sender
  alignas(kApart) std::atomic<std::uint64_t> tail;  // written by the receiver
};

struct MessageHeader {
  std::uint32_t magic;
  Channel channel;
  std::uint64_t sequence;
  std::uint64_t length;
  Stamp stamp;
  std::byte unused[24];
};

static_assert(sizeof(RankPage) == kPage);
static_assert(sizeof(MessageHeader) == kCell);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

constexpr std::size_t in_cells(std::size_t bytes) { return (bytes + kCell - 1) / kCell * kCell; }

}  // namespace narrowcast::shm
