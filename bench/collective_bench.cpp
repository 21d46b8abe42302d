#include "bench/collective_bench.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <numeric>

#include "base/checksum.hpp"
#include "bench/machine.hpp"

namespace narrowcast::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kMeasured = 0;  // numbers of conversations
constexpr std::uint32_t kControl = 1;

double since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

}  // namespace

double CollectiveTime::ratio() const {
  return wire_bytes == 0 ? 1 : static_cast<double>(fp32_bytes) / static_cast<double>(wire_bytes);
}

double CollectiveTime::algorithm_bandwidth() const {
  return static_cast<double>(bytes()) / time_us / 1e3;
}

double CollectiveTime::bus_bandwidth() const {
  const double others = static_cast<double>(ranks - 1) / ranks;
  switch (collective) {
    case Collective::all_reduce:
      return algorithm_bandwidth() * 2 * others;
    case Collective::all_gather:
    case Collective::reduce_scatter:
      return algorithm_bandwidth() * others;
    case Collective::broadcast:
    case Collective::send_receive:
    case Collective::transfer:
      break;
  }
  return algorithm_bandwidth();
}

// How long each kind of work took.
class CollectiveBench::Stopwatches final : public Probe {
 public:
  void start(Work work) override { begun_[index(work)] = Clock::now(); }
  void stop(Work work) override { taken_[index(work)] += since(begun_[index(work)]); }
  void reset() { taken_.fill(0); }
  double taken(Work work) const { return taken_[index(work)]; }

 private:
  static std::size_t index(Work work) { return static_cast<std::size_t>(work); }
  std::array<Clock::time_point, 3> begun_;
  std::array<double, 3> taken_ = {};
};

// What one rank has to say of one iteration.
struct CollectiveBench::Lap {
  double time_us = 0;
  double encode_us = 0;
  double wire_us = 0;
  double decode_us = 0;
  std::uint64_t sent = 0;
  std::uint64_t checksum = 0;
  std::uint64_t wrong = 0;
  double max_error = 0;
};

// What rank 0 makes of all of them.
struct CollectiveBench::Totals {
  std::vector<double> time;
  std::vector<double> encode;
  std::vector<double> wire;
  std::vector<double> decode;
  CollectiveTime sum;

  void add(const std::vector<Lap>& laps) {
    const Lap& lap = *std::ranges::max_element(laps, {}, &Lap::time_us);
    time.push_back(lap.time_us);
    encode.push_back(lap.encode_us);
    wire.push_back(lap.wire_us);
    decode.push_back(lap.decode_us);
    for (const Lap& each : laps) sum.wire_bytes = std::max(sum.wire_bytes, each.sent);
  }

  // Also of warm-ups.
  void judge(const std::vector<Lap>& laps) {
    for (const Lap& each : laps) {
      sum.wrong += each.wrong;
      sum.max_error = std::max(sum.max_error, each.max_error);
    }
  }

  CollectiveTime result() const {
    CollectiveTime out = sum;
    out.time_us = median(time);
    out.least_us = std::ranges::min(time);
    out.mean_us = std::reduce(time.begin(), time.end()) / static_cast<double>(time.size());
    out.encode_us = median(encode);
    out.wire_us = median(wire);
    out.decode_us = median(decode);
    return out;
  }
};

CollectiveBench::CollectiveBench(Counting& net, Team& team, int local_ranks)
    : net_(net),
      local_ranks_(local_ranks),
      stopwatches_(std::make_unique<Stopwatches>()),
      group_(net, kMeasured, {.team = &team, .probe = stopwatches_.get()}),
      control_(net, kControl) {}

CollectiveBench::~CollectiveBench() = default;

CollectiveBench::Lap CollectiveBench::run_once(Exercise& exercise, std::uint64_t step) {
  exercise.restore();
  stopwatches_->reset();
  control_.barrier();
  const std::uint64_t before = net_.sent().bytes;
  const auto start = Clock::now();
  exercise.run(step, group_);
  Lap lap{.time_us = since(start)};
  lap.sent = net_.sent().bytes - before;
  lap.encode_us = stopwatches_->taken(Work::encode);
  lap.decode_us = stopwatches_->taken(Work::decode);
  // Not only what is spent waiting: copies and checksums of a transport are in it as well.
  lap.wire_us = lap.time_us - lap.encode_us - lap.decode_us;
  return lap;
}

// Which values of a result are wrong, each of them once.
class CollectiveBench::Faults {
 public:
  explicit Faults(Floats result) : result_(result), wrong_(result.size()) {}

  void mark_far(const Expectation& expected) {
    for (std::size_t i = 0; i < result_.size(); ++i)
      if (!expected.allows(i, result_[i])) wrong_[i] = true;
  }

  void mark_different(const Sample& sample) {
    for (std::size_t i = 0; i < sample.count(); ++i)
      if (!sample.has(i, result_[sample.begin + i])) wrong_[sample.begin + i] = true;
  }

  void mark_different(Floats values) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!same_bits(result_[i], values[i])) wrong_[i] = true;
  }

  std::uint64_t count() const {
    return static_cast<std::uint64_t>(std::ranges::count(wrong_, true));
  }

 private:
  Floats result_;
  std::vector<bool> wrong_;
};

void CollectiveBench::verify(Exercise& exercise, const Expectation& expected, std::uint64_t step,
                             Lap& lap) {
  const Floats result = exercise.result();
  lap.max_error = expected.error_of(result);
  Faults faults(result);
  faults.mark_far(expected);
  for (const Sample& sample : exercise.samples(step)) faults.mark_different(sample);
  if (exercise.is_common()) {
    lap.checksum = checksum(std::as_bytes(result));
    const std::vector<Lap> laps = control_.gather(lap);
    const auto is_other = [&](const Lap& each) { return each.checksum != lap.checksum; };
    if (control_.share(std::ranges::any_of(laps, is_other))) {
      // Rank 0 tells what it has, value by value.
      std::vector<float> first(result.begin(), result.end());
      control_.share_bytes(std::as_writable_bytes(std::span(first)));
      faults.mark_different(first);
    }
  }
  lap.wrong = faults.count();
}

CollectiveTime CollectiveBench::measure(const CollectiveRequest& request) {
  check(request, net_.size());
  require_memory_for_tensors(tensors_needed(request) * static_cast<std::size_t>(local_ranks_),
                             request.count);
  const std::unique_ptr<Exercise> exercise = make_exercise(request, net_.rank(), net_.size());
  const Expectation expected = exercise->expectation();
  const std::unique_ptr<Codec> fp32 = make_codec("fp32");
  const Codec& codec = request.of_engine() ? *fp32 : *request.codec;

  Totals totals;
  for (int i = 0; i < request.warm_up + request.iterations; ++i) {
    const std::uint64_t step = steps_++;
    Lap lap = run_once(*exercise, step);
    if (request.of_engine()) lap.sent = exercise->traffic(*fp32).bytes();
    verify(*exercise, expected, step, lap);
    const std::vector<Lap> laps = control_.gather(lap);
    totals.judge(laps);
    if (i >= request.warm_up && !laps.empty()) totals.add(laps);
  }
  const std::array<std::uint64_t, 2> declared = {exercise->traffic(codec).bytes(),
                                                 exercise->traffic(*fp32).bytes()};
  CollectiveTime time;
  if (net_.rank() == 0) time = totals.result();
  for (const auto& each : control_.gather(declared)) {
    time.declared_bytes = std::max(time.declared_bytes, each[0]);
    time.fp32_bytes = std::max(time.fp32_bytes, each[1]);
  }
  time.collective = request.collective;
  time.ranks = net_.size();
  time.count = request.count;
  return control_.share(time);
}

}  // namespace narrowcast::bench
