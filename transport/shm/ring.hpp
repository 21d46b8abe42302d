#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.hpp"
#include "transport/shm/bell.hpp"
#include "transport/shm/layout.hpp"

// The two ends of a ring. Each remembers its own position and only publishes it; the position of
// the other end is checked whenever it is read, and Fault::wire when it cannot be.
namespace narrowcast::shm {

// Who is at the other end.
struct OtherEnd {
  Bell bell;
  int rank;
};

class RingWriter {
 public:
  RingWriter(RingControl& control, MutableBytes ring, const OtherEnd& reader);

  // Bytes that fit now, a multiple of kCell.
  std::size_t room();
  // Copies to the ring; the caller knows that it fits. Whole cells but at the end of a message.
  void write(Bytes bytes);
  // Lets the reader see what was written.
  void publish();
  // What to write between two publish(): the reader copies one while the writer copies the next.
  std::size_t slice() const;

 private:
  RingControl& control_;
  MutableBytes ring_;
  OtherEnd reader_;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;  // as last seen
};

class RingReader {
 public:
  RingReader(RingControl& control, MutableBytes ring, const OtherEnd& writer);

  // Bytes that can be read now, a multiple of kCell.
  std::size_t available();
  // Copies from the ring; the caller knows that it is there. Whole cells but at the end of a
  // message.
  void read(MutableBytes bytes);
  void skip(std::size_t bytes);
  // Lets the writer use again what was read.
  void release();
  // What to read between two release().
  std::size_t slice() const;

 private:
  RingControl& control_;
  Bytes ring_;
  OtherEnd writer_;
  std::uint64_t head_ = 0;  // as last seen
  std::uint64_t tail_ = 0;
};

}  // namespace narrowcast::shm
