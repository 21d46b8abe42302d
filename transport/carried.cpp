#include "transport/carried.hpp"

#include <fmt/core.h>

#include "transport/carrying/engine.hpp"
#include "transport/copied.hpp"

namespace narrowcast {
namespace {

void check_peer(const Place& place, int peer) {
  if (peer < 0 || peer >= place.size || peer == place.rank)
    throw Error(Fault::usage, fmt::format("rank {} is no peer of rank {}", peer, place.rank));
}

}  // namespace

Carried::Carried(const Options& options) : engine_(std::make_unique<Engine>(options)) {}
Carried::~Carried() = default;

int Carried::rank() const { return engine_->place().rank; }
int Carried::size() const { return engine_->place().size; }

std::size_t Carried::longest_frame() const { return engine_->frame_bytes() + carrying::kFrameEnd; }

std::size_t Carried::frames_ahead() { return framing::kFrames; }

std::optional<Load> Carried::next(int peer) {
  check_peer(engine_->place(), peer);
  return engine_->lane(peer).next();
}

void Carried::carried(int peer, const Load& load) {
  check_peer(engine_->place(), peer);
  engine_->lane(peer).carried(load.number);
}

bool Carried::deliver(int peer, Bytes frame) {
  check_peer(engine_->place(), peer);
  return engine_->deliver(peer, frame);
}

void Carried::lost(int peer, std::string_view why) {
  check_peer(engine_->place(), peer);
  engine_->lost(peer, why);
}

void Carried::leave() { engine_->leave(); }

std::unique_ptr<Transfer> Carried::do_send(const Slot& to, Bytes message, const Stamp& stamp) {
  engine_->latch().check();
  engine_->send(to, message, stamp);
  return std::make_unique<Copied>(engine_->latch(), Arrival{message.size(), stamp});
}

std::unique_ptr<Transfer> Carried::do_receive(const Slot& from, MutableBytes buffer) {
  engine_->latch().check();
  return std::make_unique<framing::Receiving>(engine_->inbox(from.peer), from, buffer);
}

}  // namespace narrowcast
