#include "transport/modules/mpi_frames.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.hpp"
#include "transport/modules/mpi_session.hpp"

namespace narrowcast::mpi {
namespace {

constexpr std::uint32_t kMagic = 0x314d434e;  // "NCM1"
constexpr int kTag = 0;
constexpr std::size_t kReceives = 16;

void check_frame(int peer, const Header& header, std::size_t bytes) {
  if (bytes < sizeof(Header) || header.magic != kMagic)
    throw Error(Fault::wire, fmt::format("rank {} sent {} bytes of rubbish", peer, bytes));
  if (header.kind == Kind::failed) return;  // in words, of any length
  const bool inline_message = header.kind == Kind::message && header.tag == 0;
  const std::size_t body = bytes - sizeof(Header);
  const std::uint64_t expected = inline_message ? header.length : 0;
  if (body != expected)
    throw Error(Fault::wire,
                fmt::format("rank {} sent a frame with a body of {} bytes, which should have {}",
                            peer, body, expected));
}

void check_fits(int code, const MPI_Status& status) {
  int kind = MPI_SUCCESS;
  if (code != MPI_SUCCESS) check(MPI_Error_class(code, &kind), "MPI_Error_class");
  if (kind == MPI_ERR_TRUNCATE)
    throw Error(Fault::wire, fmt::format("rank {} sent a frame of more than {} bytes",
                                         status.MPI_SOURCE, kFrameBytes));
  check(code, "MPI_Test");
}

}  // namespace

Frames::Frames(MPI_Comm comm, int size) : comm_(comm), receives_(kReceives), under_way_(size) {
  for (Posted& posted : receives_) {
    posted.frame = std::make_unique<Frame>();
    post_receive(posted);
  }
}

void Frames::post_receive(Posted& posted) {
  check(MPI_Irecv(posted.frame.get(), static_cast<int>(kFrameBytes), MPI_BYTE, MPI_ANY_SOURCE, kTag,
                  comm_, &posted.request),
        "MPI_Irecv");
}

void Frames::send(int peer, const Header& header, Bytes body) {
  Posted posted;
  posted.peer = peer;
  if (spare_.empty()) {
    posted.frame = std::make_unique<Frame>();
  } else {
    posted.frame = std::move(spare_.back());
    spare_.pop_back();
  }
  posted.frame->header = header;
  posted.frame->header.magic = kMagic;
  copy(body, posted.frame->body);
  sends_.push_back(std::move(posted));  // first: once MPI has the frame, nothing may free it
  ++under_way_[peer];
  check(MPI_Isend(sends_.back().frame.get(), static_cast<int>(sizeof(Header) + body.size()),
                  MPI_BYTE, peer, kTag, comm_, &sends_.back().request),
        "MPI_Isend");
}

std::optional<Frames::Arrived> Frames::next() {
  if (head_taken_) {
    head_taken_ = false;
    post_receive(receives_[head_]);
    head_ = (head_ + 1) % receives_.size();
  }
  Posted& head = receives_[head_];
  MPI_Status status = {};
  int done = 0;
  const int code = MPI_Test(&head.request, &done, &status);
  if (code == MPI_SUCCESS && done == 0) return std::nullopt;
  head_taken_ = true;
  check_fits(code, status);
  int bytes = 0;
  check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  check_frame(status.MPI_SOURCE, head.frame->header, bytes);
  const Bytes body = Bytes(head.frame->body).first(bytes - sizeof(Header));
  return Arrived{status.MPI_SOURCE, head.frame->header, body};
}

void Frames::reap() {
  std::erase_if(sends_, [this](Posted& posted) {
    int done = 0;
    check(MPI_Test(&posted.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0) return false;
    --under_way_[posted.peer];
    spare_.push_back(std::move(posted.frame));
    return true;
  });
}

void Frames::close() {
  for (Posted& posted : receives_) {
    if (posted.request == MPI_REQUEST_NULL) continue;
    check(MPI_Cancel(&posted.request), "MPI_Cancel");
    check(MPI_Wait(&posted.request, MPI_STATUS_IGNORE), "MPI_Wait");
  }
}

void Frames::abandon() {
  const auto leak = [](Posted& posted) {
    if (posted.request != MPI_REQUEST_NULL) static_cast<void>(posted.frame.release());
  };
  std::ranges::for_each(receives_, leak);
  std::ranges::for_each(sends_, leak);
}

}  // namespace narrowcast::mpi
