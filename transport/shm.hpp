#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/descriptor.hpp"
#include "transport/join.hpp"

// Ranks that are processes of one machine, over shared memory.
namespace narrowcast {

namespace shm {
class Mapping;
}

inline constexpr int kMostShmRanks = 256;
inline constexpr std::size_t kSmallestRing = 4096;

// Bytes of the ring from one rank to another where nobody asks for something else: rings of many
// ranks are smaller, so that a segment stays at 512 MiB up to 90 ranks.
std::size_t shm_ring_bytes(int ranks);

// The memory that the ranks share. It has no name, only a file descriptor: when the last process
// that holds it ends, however it ends, nothing is left behind.
class ShmSegment {
 public:
  explicit ShmSegment(int ranks);
  // `ring_bytes` is a power of two, kSmallestRing or more.
  ShmSegment(int ranks, std::size_t ring_bytes);

  // Closed on exec, unless whoever starts the ranks sees to it.
  int fd() const { return segment_.get(); }
  std::string rendezvous() const;  // "fd:N"
  const std::shared_ptr<shm::Mapping>& mapping() const { return mapping_; }

 private:
  Descriptor segment_;
  std::shared_ptr<shm::Mapping> mapping_;
};

// Joins the segment that joining.rendezvous names as "fd:N". The descriptor stays open.
std::unique_ptr<Transport> join_shm(const Joining& joining);

// Joins a segment of this process: ranks are threads that share its mapping.
std::unique_ptr<Transport> join_shm(const ShmSegment& segment, const Joining& joining);

}  // namespace narrowcast
