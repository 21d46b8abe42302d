#include "transport/shm/ring.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/error.hpp"

namespace narrowcast::shm {
namespace {

// memcpy takes these with vector loads and stores. For longer ones glibc turns to `rep movsb`,
// which is many times slower on some CPUs when the destination is 16 bytes past a page.
constexpr std::size_t kPiece = 2048;

void copy_in_pieces(const std::byte* from, std::byte* to, std::size_t bytes) {
  for (; bytes > kPiece; bytes -= kPiece, from += kPiece, to += kPiece)
    std::memcpy(to, from, kPiece);
  if (bytes != 0) std::memcpy(to, from, bytes);
}

constexpr std::size_t kSlice = std::size_t{32} << 10;

void check_used(std::uint64_t used, std::size_t capacity, int peer) {
  if (used > capacity || used % kCell != 0)
    throw Error(Fault::wire, fmt::format("rank {} put its end of the ring where none is", peer));
}

}  // namespace

RingWriter::RingWriter(RingControl& control, MutableBytes ring, const OtherEnd& reader)
    : control_(control), ring_(ring), reader_(reader) {}

std::size_t RingWriter::room() {
  tail_ = control_.tail.load();
  const std::uint64_t used = head_ - tail_;
  check_used(used, ring_.size(), reader_.rank);
  return ring_.size() - used;
}

void RingWriter::write(Bytes bytes) {
  const std::size_t at = head_ & (ring_.size() - 1);
  const std::size_t first = std::min(bytes.size(), ring_.size() - at);
  copy_in_pieces(bytes.data(), ring_.data() + at, first);
  copy_in_pieces(bytes.data() + first, ring_.data(), bytes.size() - first);
  head_ += in_cells(bytes.size());
}

void RingWriter::publish() {
  control_.head.store(head_);
  reader_.bell.ring();
}

std::size_t RingWriter::slice() const { return std::min(kSlice, ring_.size() / 4); }

RingReader::RingReader(RingControl& control, MutableBytes ring, const OtherEnd& writer)
    : control_(control), ring_(ring), writer_(writer) {}

std::size_t RingReader::available() {
  head_ = control_.head.load();
  const std::uint64_t used = head_ - tail_;
  check_used(used, ring_.size(), writer_.rank);
  return used;
}

void RingReader::read(MutableBytes bytes) {
  const std::size_t at = tail_ & (ring_.size() - 1);
  const std::size_t first = std::min(bytes.size(), ring_.size() - at);
  copy_in_pieces(ring_.data() + at, bytes.data(), first);
  copy_in_pieces(ring_.data(), bytes.data() + first, bytes.size() - first);
  skip(bytes.size());
}

void RingReader::skip(std::size_t bytes) { tail_ += in_cells(bytes); }

void RingReader::release() {
  control_.tail.store(tail_);
  // A writer sleeps only when the ring was full; it is woken for half a ring, not for every cell.
  if (head_ - tail_ <= ring_.size() / 2) writer_.bell.ring();
}

std::size_t RingReader::slice() const { return std::min(kSlice, ring_.size() / 4); }

}  // namespace narrowcast::shm
