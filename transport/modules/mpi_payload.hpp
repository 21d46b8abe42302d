#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

#include "base/bytes.hpp"

namespace narrowcast::mpi {

// Where a payload goes or comes from.
struct Line {
  MPI_Comm comm;
  int peer;
  int tag;
};

// What MPI moves at once of a payload, except the last piece.
inline constexpr std::size_t kPieceBytes = std::size_t{1} << 30;

// Bytes of any number under way, in pieces because MPI counts in int. Pieces share a tag: MPI keeps
// their order. Every call needs the turn.
class Payload {
 public:
  Payload() = default;  // done
  static Payload send(const Line& to, Bytes bytes);
  static Payload receive(const Line& from, MutableBytes bytes);

  // Whether all of it has come, or may be used again. Fault::wire, naming the rank, when what came
  // is not as long as announced.
  bool done();

  // Takes back a receive that has not begun to arrive. Returns whether MPI is done with the buffer.
  bool cancel_receive();

 private:
  struct Piece {
    MPI_Request request = MPI_REQUEST_NULL;
    std::optional<int> expected;  // bytes, of a receive
  };

  int peer_ = 0;
  std::vector<Piece> pieces_;
};

}  // namespace narrowcast::mpi
