#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "collective/collective.hpp"
#include "plan/plan.hpp"
#include "train/split_linear.hpp"

namespace narrowcast {

// A thread that does one thing after the other.
class Courier {
 public:
  ~Courier();
  std::future<void> start(std::function<void()> errand);

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<std::packaged_task<void()>> errands_;
  bool leaving_ = false;
  std::thread thread_;  // from the first errand on
};

// One direction of an ActivationLink: a conversation, the codec that its values travel in, and what
// that costs.
class Line {
 public:
  Line(Transport& net, std::uint32_t number, const Way& way, std::uint64_t seed);
  ~Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  void set_step(std::uint64_t step);

  using Parts = ActivationLink::Parts;
  void gather(const Parts& parts, const Cargo& cargo);
  void sum(MutableFloats values, const Cargo& cargo);
  void scatter(const Parts& parts, const Cargo& cargo);

  std::future<void> start(std::function<void()> errand) {
    return courier_.start(std::move(errand));
  }

  // Adds what it has cost since the last call.
  void take_costs(ActivationLink::Costs& costs);

 private:
  class Meter;
  class Stopwatches;

  std::vector<Piece> pieces(const Parts& parts, const Cargo& cargo);
  const Codec& codec_for(std::size_t innermost);
  Travel next_travel();
  void note_fp32(std::vector<Piece> pieces, const std::function<Traffic(Pieces)>& traffic);

  std::uint32_t number_;
  std::string spec_;
  std::uint64_t seed_;
  std::uint64_t step_ = 0;
  std::uint64_t calls_ = 0;  // in this step
  std::uint64_t fp32_bytes_ = 0;
  std::map<std::size_t, std::unique_ptr<Codec>> codecs_;  // by length of a row
  std::unique_ptr<Codec> fp32_;
  std::unique_ptr<Stopwatches> watches_;
  std::unique_ptr<Meter> meter_;
  Conversation group_;
  Courier courier_;  // the last: it ends before what it works with does
};

}  // namespace narrowcast
