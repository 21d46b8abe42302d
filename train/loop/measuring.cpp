#include "train/loop/measuring.hpp"

#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <span>

#include "predict/expected.hpp"
#include "predict/finding.hpp"
#include "train/loop/progress.hpp"
#include "train/loop/replica.hpp"
#include "train/loop/threads.hpp"
#include "transport/inproc.hpp"

namespace narrowcast {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kWarmUp = 3;
constexpr std::size_t kFewest = 8;
constexpr std::size_t kMost = 1000;

double ms_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - start).count();
}

double median(const std::vector<double>& values) { return finding_of(values).value; }

// The times of many steps.
class Diary {
 public:
  explicit Diary(const std::vector<Tensor>& tensors) : tensors_(tensors), ready_(tensors.size()) {}

  std::size_t size() const { return step_.size(); }

  void add(const StepOutcome& outcome) {
    forward_.push_back(outcome.forward_ms);
    backward_.push_back(outcome.backward_ms);
    rest_.push_back(outcome.step_ms - outcome.forward_ms - outcome.backward_ms);
    step_.push_back(outcome.step_ms);
    for (std::size_t i = 0; i < ready_.size(); ++i) {
      const Clock::time_point at = outcome.report.ready_at[i];
      // One that the network does not use comes last, as it does in training.
      ready_[i].push_back(at == Clock::time_point() ? outcome.backward_ms
                                                    : ms_between(outcome.backward_begins, at));
    }
  }

  // How much later than the mean the last of all ranks was, in the middle one of all steps: as the
  // standard deviation of ranks that would be so.
  double straggler(RankTalk& talk) const {
    if (talk.size() == 1) return 0;
    const auto ranks = static_cast<std::size_t>(talk.size());
    std::vector<float> times(ranks * size());  // this rank's own, zeros for the others
    for (std::size_t i = 0; i < size(); ++i)
      times[i * ranks + static_cast<std::size_t>(talk.rank())] = static_cast<float>(step_[i]);
    times = talk.sum(std::move(times));
    std::vector<double> late;
    for (std::size_t i = 0; i < size(); ++i) {
      const std::span<const float> all = std::span(times).subspan(i * ranks, ranks);
      const double mean = std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(ranks);
      late.push_back(*std::ranges::max_element(all) / mean - 1);
    }
    return std::min(median(late) / expected_maximum(talk.size()), kMostSpread);
  }

  // All medians, in a fixed order, to be averaged over the ranks.
  std::vector<float> medians() const {
    std::vector<float> all;
    for (const auto* times : {&forward_, &backward_, &rest_})
      all.push_back(static_cast<float>(median(*times)));
    all.push_back(static_cast<float>(finding_of(step_).spread));
    for (const auto& times : ready_) all.push_back(static_cast<float>(median(times)));
    return all;
  }

  MeasuredModel model(const std::vector<float>& medians) const {
    MeasuredModel model;
    model.forward_ms = medians[0];
    model.backward_ms = medians[1];
    model.rest_ms = medians[2];
    model.spread = std::min<double>(medians[3], kMostSpread);
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      model.tensors.push_back({tensors_[i].name, tensors_[i].elements,
                               std::min<double>(medians[4 + i], model.backward_ms)});
    std::ranges::stable_sort(model.tensors, {}, &MeasuredTensor::ready_ms);
    return model;
  }

 private:
  const std::vector<Tensor>& tensors_;
  std::vector<double> forward_;
  std::vector<double> backward_;
  std::vector<double> rest_;
  std::vector<double> step_;
  std::vector<std::vector<double>> ready_;
};

Run alone(Run run) {
  run.parallel = Parallel::data;
  run.accumulate = 1;
  run.plan = {};
  run.clip = 0;
  return run;
}

}  // namespace

MeasuredModel measure_on_rank(const Measuring& measuring) {
  const Run run = alone(measuring.run);
  set_threads(run.threads);
  RankTalk talk(measuring.net, measuring.channel);
  const NetworkRow& row = network_row(run.net);
  DataWish wish = {.what = "synthetic"};
  wish.shape = parse_shape(row.shape);
  wish.images = static_cast<std::size_t>(run.batch) * 2;
  // A few images cannot have all of a thousand classes; what the network computes is the same.
  wish.classes = static_cast<int>(std::min<std::size_t>(row.classes, wish.images));
  const DataSet data = open_data(wish);
  Feed feed(run, data, {.batch = static_cast<std::size_t>(run.batch)});
  Hub hub(1);
  const std::unique_ptr<Transport> own = hub.connect(0);
  Replica replica(run, feed.shape(), row.classes, *own);
  Diary diary(replica.tensors());
  const Clock::time_point start = Clock::now();
  for (std::size_t step = 0;; ++step) {
    // Together, as in training; and rank 0's watch says when it is enough.
    const bool enough =
        diary.size() >= kMost ||
        (diary.size() >= kFewest && ms_between(start, Clock::now()) > 1e3 * measuring.seconds);
    if (talk.broadcast(std::uint64_t{enough}) != 0) break;
    feed.set_epoch(step);
    const StepOutcome outcome =
        replica.step(feed, {.moment = {.step = step, .epoch = 0}, .rate = 1e-6});
    if (step >= kWarmUp) diary.add(outcome);
  }
  std::vector<float> sums = talk.sum(diary.medians());
  for (float& sum : sums) sum /= static_cast<float>(talk.size());
  MeasuredModel model = diary.model(sums);
  model.straggler = diary.straggler(talk);
  model.name = run.net;
  model.batch = run.batch;
  return model;
}

}  // namespace narrowcast
