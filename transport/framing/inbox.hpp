#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "transport/framing/faults.hpp"
#include "transport/framing/frame.hpp"

namespace narrowcast::framing {

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
  Inbox(Faults& faults, int peer) : faults_(faults), peer_(peer) {}

  // The caller's side. `receipt` stays where it is until it is done or withdrawn.
  void post(Receipt& receipt);
  void withdraw(Receipt& receipt);
  Arrival wait(Receipt& receipt);

  // The link's side. Takes a part of a message; Fault::wire when it does not fit.
  void take(const Header& header, Bytes payload);
  // Blocks while more has come than may lie around; Fault::peer when nobody ever takes any.
  void make_room();
  bool crowded() const { return crowded_; }
  // No more will come; what is here can still be received. Whoever waits for more is told `why`, or
  // that the peer left.
  void end(std::string why = {});
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

  Faults& faults_;
  const int peer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Key, Receipt*> posted_;
  std::map<Key, Parked> parked_;
  std::size_t parked_bytes_ = 0;
  std::atomic<bool> crowded_ = false;
  bool ended_ = false;
  std::string why_;  // it ended
};

// A receive as a transport hands it out.
class Receiving final : public Transfer {
 public:
  Receiving(std::shared_ptr<Inbox> inbox, const Slot& from, MutableBytes buffer)
      : inbox_(std::move(inbox)), receipt_{.from = from, .buffer = buffer} {
    inbox_->post(receipt_);
  }
  ~Receiving() override { inbox_->withdraw(receipt_); }
  Receiving(const Receiving&) = delete;
  Receiving& operator=(const Receiving&) = delete;

  Arrival wait() override { return inbox_->wait(receipt_); }

 private:
  std::shared_ptr<Inbox> inbox_;
  Receipt receipt_;
};

}  // namespace narrowcast::framing
