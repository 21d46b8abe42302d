#include "transport/modules/mpi_payload.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.hpp"
#include "transport/modules/mpi_session.hpp"

namespace narrowcast::mpi {
namespace {

std::size_t pieces_of(Bytes bytes) { return (bytes.size() + kPieceBytes - 1) / kPieceBytes; }

// Calls start(data, count) for each piece.
template <class Span, class Start>
void in_pieces(Span bytes, Start start) {
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), kPieceBytes);
    start(bytes.data(), static_cast<int>(count));
    bytes = bytes.subspan(count);
  }
}

void check_length(int peer, int expected, int code, const MPI_Status& status) {
  int came = 0;
  if (code == MPI_SUCCESS) check(MPI_Get_count(&status, MPI_BYTE, &came), "MPI_Get_count");
  if (code == MPI_SUCCESS && came == expected) return;
  throw Error(Fault::wire,
              fmt::format("rank {} announced {} bytes and sent another number", peer, expected));
}

}  // namespace

Payload Payload::send(const Line& to, Bytes bytes) {
  Payload payload;
  payload.pieces_.reserve(pieces_of(bytes));  // memory must not run out between two pieces
  in_pieces(bytes, [&](const void* data, int count) {
    Piece& piece = payload.pieces_.emplace_back();
    check(MPI_Isend(data, count, MPI_BYTE, to.peer, to.tag, to.comm, &piece.request), "MPI_Isend");
  });
  return payload;
}

Payload Payload::receive(const Line& from, MutableBytes bytes) {
  Payload payload;
  payload.pieces_.reserve(pieces_of(bytes));  // memory must not run out between two pieces
  payload.peer_ = from.peer;
  in_pieces(bytes, [&](void* data, int count) {
    Piece& piece = payload.pieces_.emplace_back(Piece{.expected = count});
    check(MPI_Irecv(data, count, MPI_BYTE, from.peer, from.tag, from.comm, &piece.request),
          "MPI_Irecv");
  });
  return payload;
}

bool Payload::done() {
  while (!pieces_.empty()) {
    int done = 0;
    MPI_Status status = {};
    Piece& piece = pieces_.back();
    const int code = MPI_Test(&piece.request, &done, &status);
    if (code == MPI_SUCCESS && done == 0) return false;
    const std::optional<int> expected = piece.expected;
    pieces_.pop_back();
    if (expected) {
      check_length(peer_, *expected, code, status);
    } else {
      check(code, "MPI_Test");
    }
  }
  return true;
}

bool Payload::cancel_receive() {
  std::erase_if(pieces_, [](Piece& piece) {
    int done = 0;
    check(MPI_Cancel(&piece.request), "MPI_Cancel");
    check(MPI_Test(&piece.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  });
  return pieces_.empty();
}

}  // namespace narrowcast::mpi
