#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "transport/modules/gloo_shared.hpp"

namespace narrowcast::over_gloo {

struct Header;

// A receive of the caller's. The inbox it is posted in writes to it under its lock.
struct Receipt {
  Slot from;
  MutableBytes buffer;
  Arrival arrival = {};
  std::size_t came = 0;  // bytes so far
  bool begun = false;
  bool done = false;
};

// Messages from one peer: those that somebody waits for, and those that came before anybody did.
class Inbox {
 public:
  explicit Inbox(Shared& shared, int peer) : shared_(shared), peer_(peer) {}

  // The caller's side. `receipt` stays where it is until it is done or withdrawn.
  void post(Receipt& receipt);
  void withdraw(Receipt& receipt);
  Arrival wait(Receipt& receipt);

  // The link's side. Takes a part of a message; Fault::wire when it does not fit.
  void take(const Header& header, Bytes payload);
  // Blocks while more has come than may lie around; Fault::peer when nobody ever takes any.
  void make_room();
  bool crowded() const { return crowded_; }
  // No more will come; what is here can still be received.
  void end();
  bool ended();
  void wake();

 private:
  using Key = std::pair<Channel, std::uint64_t>;

  // A message, or the beginning of one, that nobody has asked for. `dropped`: that nobody wants.
  struct Parked {
    std::vector<std::byte> bytes;
    std::size_t came = 0;
    std::size_t total = 0;
    Stamp stamp = {};
    bool dropped = false;
  };

  void adopt(Receipt& receipt, const Key& key);
  void take_into(Receipt& receipt, const Header& header, Bytes payload);
  void take_parked(const Key& key, const Header& header, Bytes payload);
  Error too_long(const Slot& slot, std::size_t length, std::size_t room) const;
  Error out_of_order(const Header& header) const;

  Shared& shared_;
  const int peer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, Receipt*> posted_;
  std::map<Key, Parked> parked_;
  std::size_t parked_bytes_ = 0;
  std::atomic<bool> crowded_ = false;
  bool ended_ = false;
};

}  // namespace narrowcast::over_gloo
