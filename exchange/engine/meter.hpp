#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "collective/conversation.hpp"
#include "transport/transport.hpp"

namespace narrowcast {

using Clock = std::chrono::steady_clock;

inline double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Adds up how long each kind of work took.
class Stopwatch final : public Probe {
 public:
  void start(Work work) override { at(work).since = Clock::now(); }
  void stop(Work work) override { at(work).ms += ms_since(at(work).since); }
  double ms(Work work) { return at(work).ms; }
  void reset() { hands_ = {}; }

 private:
  struct Hand {
    double ms = 0;
    Clock::time_point since = {};
  };
  Hand& at(Work work) { return hands_[static_cast<std::size_t>(work)]; }

  std::array<Hand, 3> hands_ = {};
};

// Counts what leaves through a transport that it borrows.
class Metered final : public Transport {
 public:
  explicit Metered(Transport& inner) : inner_(inner) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  void poke() override { inner_.poke(); }
  std::uint64_t bytes_sent() const { return bytes_; }

 private:
  std::unique_ptr<Transfer> do_send(const Slot& to, Bytes message, const Stamp& stamp) override;
  std::unique_ptr<Transfer> do_receive(const Slot& from, MutableBytes buffer) override;

  Transport& inner_;
  std::atomic<std::uint64_t> bytes_ = 0;
};

}  // namespace narrowcast
