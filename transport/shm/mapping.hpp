#pragma once

#include <cstddef>
#include <memory>

#include "base/bytes.hpp"
#include "base/descriptor.hpp"
#include "transport/shm/layout.hpp"

namespace narrowcast::shm {

// Makes the memory for so many ranks.
Descriptor make_segment(int ranks, std::size_t ring_bytes);

// A segment, mapped into this process. What its header says has been checked against what is there.
class Mapping {
 public:
  // Fault::wire when the descriptor is not that of a segment of this version.
  explicit Mapping(int fd);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  int ranks() const { return static_cast<int>(ranks_); }
  RankPage& page(int rank) const;
  RingControl& control(int from, int to) const;
  MutableBytes ring(int from, int to) const;

 private:
  std::size_t number(int from, int to) const;

  std::byte* base_ = nullptr;
  std::size_t total_ = 0;
  std::size_t ranks_ = 0;
  std::size_t ring_bytes_ = 0;
};

}  // namespace narrowcast::shm
