#include <algorithm>
#include <chrono>
#include <ctime>

#include "predict/measure/measure.hpp"

namespace narrowcast {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMessage = 64 << 10;  // as collectives send them
constexpr std::size_t kTiny = 64;
constexpr std::size_t kLargest = 8 << 20;  // to all peers together
constexpr std::size_t kFewest = 5;
constexpr std::size_t kMost = 400;

double clock_seconds(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// All ranks send so many bytes to each of their peers, in messages.
class AllToAll {
 public:
  AllToAll(Transport& net, const std::vector<int>& peers, Channel channel)
      : net_(net), peers_(peers), channel_(channel), out_(kMessage) {}

  void operator()(std::size_t bytes_to_each) {
    std::vector<Ticket> sent;
    std::vector<Ticket> awaited;
    for (std::size_t done = 0; done < bytes_to_each; done += kMessage) {
      const std::size_t length = std::min(kMessage, bytes_to_each - done);
      for (const int peer : peers_) {
        awaited.push_back(net_.receive({peer, channel_, sequence_}, in_of(awaited.size())));
        sent.push_back(net_.send({peer, channel_, sequence_}, Bytes(out_).first(length)));
      }
      ++sequence_;
    }
    for (Ticket& ticket : awaited) ticket.wait();
    for (Ticket& ticket : sent) ticket.wait();
  }

 private:
  // A buffer of its own for each that is under way.
  MutableBytes in_of(std::size_t number) {
    while (landing_.size() <= number) landing_.emplace_back(kMessage);
    return landing_[number];
  }

  Transport& net_;
  const std::vector<int>& peers_;
  Channel channel_;
  std::uint64_t sequence_ = 0;
  std::vector<std::byte> out_;
  std::vector<std::vector<std::byte>> landing_;
};

struct Sample {
  Finding seconds;
  double cpu_seconds = 0;  // of this process, for one exchange
};

Sample sample(AllToAll& exchange, std::size_t bytes_to_each, Roundtable& table, double seconds) {
  exchange(bytes_to_each);  // buffers are laid out, TCP finds its speed
  std::vector<double> times;
  double cpu = 0;
  const Clock::time_point start = Clock::now();
  for (bool enough = false; !enough;) {
    table.meet();
    const double cpu_before = process_seconds();
    const Clock::time_point before = Clock::now();
    exchange(bytes_to_each);
    const double took = std::chrono::duration<double>(Clock::now() - before).count();
    cpu += process_seconds() - cpu_before;
    const double passed = std::chrono::duration<double>(Clock::now() - start).count();
    const std::vector<double> slowest = table.largest({took, passed});
    times.push_back(slowest[0]);
    enough = times.size() >= kMost || (times.size() >= kFewest && slowest[1] > seconds);
  }
  const double each = cpu / static_cast<double>(times.size());
  return {finding_of(std::move(times)), table.mean({each})[0]};
}

}  // namespace

double thread_seconds() { return clock_seconds(CLOCK_THREAD_CPUTIME_ID); }
double process_seconds() { return clock_seconds(CLOCK_PROCESS_CPUTIME_ID); }

LinkProfile measure_link(Transport& net, const std::vector<int>& peers, Roundtable& table,
                         const CalibrationOptions& options) {
  AllToAll exchange(net, peers, options.channel + 1);
  const auto count = std::max<std::size_t>(1, peers.size());
  const Sample small = sample(exchange, kTiny, table, options.seconds / 4);
  const std::size_t each = std::max(kMessage, kLargest / count);
  const Sample large = sample(exchange, each, table, 3 * options.seconds / 4);
  const double bytes = static_cast<double>(each * count);
  const std::size_t messages_to_each = (each + kMessage - 1) / kMessage;
  const auto messages = static_cast<double>(count * messages_to_each);
  const double small_messages = static_cast<double>(count);
  LinkProfile link;
  link.latency_us = small.seconds.value * 1e6;
  link.bandwidth = bytes / std::max(large.seconds.value - small.seconds.value, 1e-9);
  link.spread = std::min(large.seconds.spread, kMostSpread);
  // Each message and byte is sent by one rank and received by another, and all ranks do both.
  const double shared = options.process_ranks;
  link.cpu_us_per_message = small.cpu_seconds / shared * 1e6 / (2 * small_messages);
  link.cpu_ns_per_byte = std::max(0.0, large.cpu_seconds / shared * 1e9 -
                                           2 * messages * link.cpu_us_per_message * 1e3) /
                         (2 * bytes);
  return link;
}

}  // namespace narrowcast
