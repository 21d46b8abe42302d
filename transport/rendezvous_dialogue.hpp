#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "transport/rendezvous_session.hpp"

// What the server of the rendezvous hears and says on one connection, without the connection.
namespace narrowcast::rendezvous {

// What ranks have left, and how much of it there may be.
struct Pinboard {
  std::map<std::string, std::vector<std::byte>, std::less<>> values = {};
  std::size_t most = 0;
};

// Bytes that came and could not be used yet, and bytes that go when they can.
class Dialogue {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Dialogue(const std::optional<JobKey>& key) : key_(key) {}

  // Whether a request has come that is one, under the job key where there is one. Until then little
  // is kept of what comes, and anybody may have sent it.
  bool proven() const { return proven_; }

  // Nothing is heard before what is to be said has been taken, so what is kept for one that asks and
  // does not listen stays small. Both return false when the guest has to go.
  bool hear(Bytes bytes, Pinboard& board);
  bool said(std::size_t bytes, Pinboard& board);
  Bytes to_say() const { return out_; }

  // Answers one who waits, as soon as what it waits for is there or its time is over.
  void look(const Pinboard& board);
  // When to look next, whatever happens on the board.
  Clock::time_point next_look() const;

 private:
  bool digest(Pinboard& board);
  bool greet();
  bool serve(const Request& request, Pinboard& board);
  void reply(Outcome outcome, Bytes value);

  std::optional<JobKey> key_;
  Session session_;
  std::vector<std::byte> in_;
  std::vector<std::byte> out_;
  std::string awaited_;  // the key that this guest waits for; empty: none
  Clock::time_point await_until_;
  bool greeted_ = false;
  bool foreign_ = false;  // it speaks another protocol, and is told which is spoken here
  bool proven_ = false;
};

}  // namespace narrowcast::rendezvous
