#include "transport/modules/mpi_link.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "transport/modules/mpi_patience.hpp"

namespace narrowcast::mpi {
namespace {

constexpr std::size_t kWhyAtMost = 200;
constexpr int kFramesAtOnce = 64;

int rank_in(MPI_Comm comm) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  return size;
}

std::uint32_t highest_tag_of(MPI_Comm comm) {
  const int* highest = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(comm, MPI_TAG_UB, static_cast<void*>(&highest), &found),
        "MPI_Comm_get_attr");
  return found != 0 ? static_cast<std::uint32_t>(*highest) : 32767;  // what every MPI grants
}

// Words of another rank, which end up on a terminal.
std::string readable(Bytes text) {
  std::string words;
  for (const std::byte byte : text.first(std::min(text.size(), kWhyAtMost))) {
    const char letter = static_cast<char>(byte);
    words += letter >= ' ' && letter <= '~' ? letter : '?';
  }
  return words;
}

}  // namespace

std::size_t SlotHash::operator()(const Slot& slot) const noexcept {
  const std::uint64_t where =
      std::uint64_t{slot.channel} << 32 | static_cast<std::uint32_t>(slot.peer);
  const std::uint64_t mixed = (where ^ slot.sequence << 17 ^ slot.sequence) * 0x9e3779b97f4a7c15u;
  return mixed ^ mixed >> 32;
}

Link::Link(Session& session, MPI_Comm comm, std::chrono::milliseconds timeout)
    : session_(session),
      comm_(comm),
      rank_(rank_in(comm)),
      size_(size_of(comm)),
      timeout_(timeout),
      peers_(rank_, size_, timeout),
      frames_(comm, size_),
      highest_tag_(highest_tag_of(comm)),
      tags_(size_),
      next_beat_(Clock::now()) {}

std::uint32_t Link::take_tag(int peer) {
  // Tag 0 is that of the frames. When the others come round again, the receiver makes room for
  // them: accept().
  tags_[peer] = tags_[peer] % highest_tag_ + 1;
  return tags_[peer];
}

void Link::send(Outgoing& out, Bytes message, const Stamp& stamp) {
  const Turn turn = session_.turn();
  if (latch_.failed()) return;
  const int peer = out.to.peer;
  Header header{.kind = Kind::message,
                .channel = out.to.channel,
                .sequence = out.to.sequence,
                .length = message.size(),
                .stamp = stamp};
  try {
    if (message.size() <= kBodyBytes) {
      frames_.send(peer, header, message);
      return;
    }
    header.tag = out.tag = take_tag(peer);
    leaving_.insert(&out);  // first: once MPI has the memory, it must be known
    frames_.send(peer, header);
    out.payload = Payload::send(line(peer, out.tag), message);
  } catch (const std::exception& error) {
    fail(error);
  }
}

template <class Item>
void Link::await_settled(Item& item) {
  for (Patience patience(session_.spins());; patience.pause()) {
    latch_.check();
    const Turn turn = session_.try_turn();
    if (!turn.owns_lock()) continue;
    progress();
    try {
      if (settled(item)) return;
      insist(item);
      if (patience.worn()) shelve_what_fits();
    } catch (const std::exception& error) {
      fail(error);
    }
  }
}

template void Link::await_settled(Outgoing& out);
template void Link::await_settled(Incoming& in);

bool Link::settled(Outgoing& out) {
  if (!out.payload.done()) return false;
  leaving_.erase(&out);
  return true;
}

bool Link::settled(Incoming& in) {
  if (in.state == Incoming::State::arriving && in.payload.done()) {
    copy(in.shelf, in.buffer);
    in.state = Incoming::State::arrived;
    arriving_.erase(&in);
  }
  return in.state == Incoming::State::arrived;
}

void Link::progress() noexcept {
  try {
    require(!session_.muted(), Fault::system, "MPI was given up after a fault");
    const auto now = Clock::now();
    int frames = 0;
    while (frames < kFramesAtOnce) {
      const auto arrived = frames_.next();
      if (!arrived) break;
      peers_.heard(arrived->peer, now);
      handle(*arrived);
      ++frames;
    }
    frames_.reap();
    drain();
    beat(now);
    if (frames == kFramesAtOnce) return;  // there may be more, from ranks that seem silent
    if (const auto silent = peers_.silent(now)) fail(*silent);
  } catch (const std::exception& error) {
    fail(error);
  }
}

void Link::handle(const Frames::Arrived& arrived) {
  const Header& header = arrived.header;
  switch (header.kind) {
    case Kind::message:
      return accept(arrived);
    case Kind::withdrawn:
      return forget({arrived.peer, header.channel, header.sequence}, header.tag);
    case Kind::beat:
      return;
    case Kind::failed:
      return peers_.failed(arrived.peer, readable(arrived.body));
    case Kind::left:
      peers_.left(arrived.peer);
      if (!leaving_everybody_) frames_.send(arrived.peer, {.kind = Kind::noted});
      return;
    case Kind::noted:
      return peers_.noted(arrived.peer);
  }
  throw Error(Fault::wire, fmt::format("rank {} sent a frame of no known kind", arrived.peer));
}

void Link::beat(Clock::time_point now) {
  if (now < next_beat_) return;
  next_beat_ = now + peers_.interval();
  for (int peer = 0; peer < size_; ++peer) {
    // A frame that is still under way is as good as another.
    if (peer == rank_ || peers_.presence(peer) == Presence::left || frames_.under_way_to(peer) != 0)
      continue;
    frames_.send(peer, {.kind = Kind::beat});
  }
}

void Link::fail(const std::exception& error) noexcept {
  const auto* known = dynamic_cast<const Error*>(&error);
  const bool first = latch_.fail(
      known != nullptr ? *known : Error(Fault::system, fmt::format("mpi: {}", error.what())));
  if (!first || session_.muted()) return;
  const std::string_view why = error.what();
  const Bytes body = std::as_bytes(std::span(why.substr(0, kWhyAtMost)));
  try {
    for (int peer = 0; peer < size_; ++peer)
      if (peer != rank_ && peers_.presence(peer) != Presence::left)
        frames_.send(peer, {.kind = Kind::failed}, body);
  } catch (const std::exception&) {  // the others will notice by our silence
  }
}

void Link::insist(const Outgoing& out) {
  const int peer = out.to.peer;
  const Presence presence = peers_.presence(peer);
  const bool late = peers_.silence(peer, Clock::now()) > kFarewell;
  if (presence == Presence::failed || (presence == Presence::left && late))
    throw peers_.absent(peer);
}

void Link::insist(const Incoming& in) {
  const int peer = in.from.peer;
  const Presence presence = peers_.presence(peer);
  if (presence == Presence::here) return;
  const bool on_its_way = in.state == Incoming::State::arriving && presence == Presence::left;
  if (!on_its_way || peers_.silence(peer, Clock::now()) > timeout_) throw peers_.absent(peer);
}

void Link::all_reduce(MutableFloats values) {
  constexpr std::size_t kPiece = std::size_t{1} << 30;
  latch_.check();
  const Turn turn = session_.turn();
  for (; !values.empty(); values = values.subspan(std::min(values.size(), kPiece)))
    check(
        MPI_Allreduce(MPI_IN_PLACE, values.data(),
                      static_cast<int>(std::min(values.size(), kPiece)), MPI_FLOAT, MPI_SUM, comm_),
        "MPI_Allreduce");
  peers_.heard_all(Clock::now());
}

}  // namespace narrowcast::mpi
