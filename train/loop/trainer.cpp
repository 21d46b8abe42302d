#include "train/loop/trainer.hpp"

#include <fmt/format.h>
#include <torch/torch.h>
#include <torch/version.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "base/new_file.hpp"
#include "run/progress.hpp"
#include "store/store.hpp"
#include "train/loop/progress.hpp"
#include "train/loop/replica.hpp"
#include "train/loop/threads.hpp"

namespace narrowcast {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

DataWish wish_of(const Run& run) {
  const NetworkRow& row = network_row(run.net);
  DataWish wish = {.what = run.data, .folder = run.data_folder};
  wish.shape = parse_shape(row.shape);
  wish.classes = row.classes;
  return wish;
}

Feed::Place place_of(const Run& run, const Transport& net) {
  const auto batch = static_cast<std::size_t>(run.batch) * static_cast<std::size_t>(run.accumulate);
  // In model parallelism all see the same images: as many as the ranks would have together.
  if (run.parallel == Parallel::model)
    return {.rank = 0, .ranks = 1, .batch = batch * static_cast<std::size_t>(net.size())};
  return {.rank = net.rank(), .ranks = net.size(), .batch = batch};
}

// One rank's training from beginning, or from a checkpoint, to end.
class Training {
 public:
  Training(const Run& run, const Surroundings& around)
      : run_(run),
        around_(around),
        talk_(around.net),
        data_(open_data(wish_of(run))),
        feed_(run, data_, place_of(run, around.net)),
        replica_(run, feed_.shape(), data_.train->classes(), around.net) {
    talk_.require_equal(data_.fingerprint, "the ranks' data sets");
    if (!run.checkpoint.empty() && speaks()) open_checkpoints();
    // Found out before hours of training, not after.
    if (!run.weights.empty() && speaks()) const NewFile trial(run.weights.string());
    steps_per_epoch_ = feed_.steps_per_epoch();
    last_step_ = static_cast<std::uint64_t>(run.epochs) * steps_per_epoch_;
    if (run.steps > 0) last_step_ = std::min(last_step_, run.steps);
  }

  void train() {
    start();
    while (at_.step < last_step_ && !stopped_) train_epoch();
    finish();
  }

 private:
  bool speaks() const { return talk_.rank() == 0; }
  std::size_t images_a_step() const {
    return static_cast<std::size_t>(run_.batch) * static_cast<std::size_t>(run_.accumulate) *
           static_cast<std::size_t>(talk_.size());
  }

  TrainingData trained_on() const {
    return {.name = data_.name, .fingerprint = data_.fingerprint, .images = data_.train->size()};
  }

  // Those of another run are neither gone on from nor mixed with this one's by mistake.
  void open_checkpoints() {
    checkpoints_.emplace(run_.checkpoint);
    if (!run_.resume && checkpoints_->latest())
      throw Error(Fault::usage,
                  fmt::format("{} has checkpoints of an earlier run: --resume goes on, "
                              "or choose another --checkpoint folder",
                              run_.checkpoint.string()));
  }

  void start() {
    Started started = {.ranks = talk_.size(),
                       .parameters = replica_.parameters(),
                       .train_images = data_.train->size(),
                       .test_images = data_.test->size(),
                       .steps_per_epoch = steps_per_epoch_,
                       .torch = TORCH_VERSION,
                       .blas = blas_kernels()};
    if (run_.resume) resume(started);
    started.first_step = at_.step;
    talk_.require_equal(replica_.hash(), "the replicas");
    if (speaks()) around_.listener.started(started);
    begun_ = Clock::now();
  }

  void resume(Started& started) {
    std::optional<Checkpoints::Found> found;
    if (speaks()) found = checkpoints_->latest();
    if (talk_.broadcast(std::uint64_t{found.has_value()}) == 0) return;
    if (speaks()) {
      started.notes = found->refused;
      at_ = read_progress(found->snapshot.about, run_, trained_on());
    }
    talk_.broadcast(std::as_writable_bytes(std::span(&at_, 1)));
    if (!speaks()) at_.loss_sum = at_.loss_count = 0;  // rank 0 has those of all
    replica_.load(found ? found->snapshot.arrays : std::vector<Array>(), talk_);
    // Another number of ranks makes other steps of the same images.
    const std::uint64_t in_epoch = at_.images_in_epoch / images_a_step();
    at_.step = at_.epoch * steps_per_epoch_ + std::min<std::uint64_t>(in_epoch, steps_per_epoch_);
    saved_step_ = at_.step;
  }

  void train_epoch() {
    feed_.set_epoch(at_.epoch);
    EpochSums sums;
    const Clock::time_point start = Clock::now();
    std::uint64_t in_epoch = at_.step - at_.epoch * steps_per_epoch_;
    while (in_epoch < steps_per_epoch_ && at_.step < last_step_ && !stopped_) {
      one_step(in_epoch, sums);
      ++in_epoch;
    }
    sums.seconds = seconds_since(start);
    total_ += sums;
    if (in_epoch == steps_per_epoch_ || at_.step == last_step_) end_epoch(sums, in_epoch);
    if (stopped_) save();
  }

  void one_step(std::uint64_t in_epoch, EpochSums& sums) {
    if (around_.asked && around_.asked()) replica_.ask_to_stop();
    const double epoch = static_cast<double>(at_.step) / static_cast<double>(steps_per_epoch_);
    const double rate =
        run_.optimiser.rate * rate_factor(run_.schedule, epoch, static_cast<double>(run_.epochs));
    const StepOutcome outcome =
        replica_.step(feed_, {.moment = {.step = at_.step, .epoch = at_.epoch},
                              .step_in_epoch = in_epoch,
                              .rate = rate});
    ++at_.step;
    at_.images_in_epoch = (in_epoch + 1) * images_a_step();
    sums.add(outcome);
    at_.loss_sum += outcome.loss;
    at_.loss_count += 1;
    stopped_ = outcome.report.stop;
    if (speaks()) around_.listener.step(record_of(outcome, rate));
    if (run_.hash_every > 0 && at_.step % run_.hash_every == 0)
      talk_.require_equal(replica_.hash(), fmt::format("after step {}, the replicas", at_.step));
    // Not before the epoch that it ends has been tested and told of: a run that goes on from there
    // would never do it.
    if (is_due() && in_epoch + 1 < steps_per_epoch_ && at_.step < last_step_) save();
  }

  bool is_due() const { return run_.checkpoint_every > 0 && at_.step % run_.checkpoint_every == 0; }

  StepRecord record_of(const StepOutcome& outcome, double rate) const {
    EpochSums one;
    one.add(outcome);
    return {.step = at_.step,
            .epoch = at_.epoch + 1,
            .loss = outcome.loss,
            .rate = rate,
            .images_per_s = 1e3 * static_cast<double>(images_a_step()) / outcome.step_ms,
            .times = one.means(),
            .wire_bytes = outcome.report.bytes(),
            .skipped = outcome.report.skipped};
  }

  void end_epoch(const EpochSums& sums, std::uint64_t in_epoch) {
    const std::vector<float> loss =
        talk_.sum({static_cast<float>(at_.loss_sum), static_cast<float>(at_.loss_count)});
    EpochRecord record = {.epoch = at_.epoch + 1,
                          .step = at_.step,
                          .train_loss = loss[0] / loss[1],
                          .test_error = std::nullopt,
                          .images_per_s = static_cast<double>(sums.steps * images_a_step()) /
                                          std::max(sums.seconds, 1e-9),
                          .times = sums.means(),
                          .wire_bytes = sums.bytes,
                          .fp32_bytes = sums.fp32_bytes,
                          .bytes_by_codec = sums.bytes_by_codec,
                          .skipped = sums.skipped};
    if (run_.test) record.test_error = replica_.test(feed_, data_.test->size(), talk_);
    record.replica_hash = replica_.hash();
    talk_.require_equal(record.replica_hash,
                        fmt::format("after epoch {}, the replicas", record.epoch));
    if (in_epoch == steps_per_epoch_) {
      ++at_.epoch;
      at_.images_in_epoch = 0;
      at_.loss_sum = 0;
      at_.loss_count = 0;
    }
    if (record.test_error) at_.note_error(*record.test_error);
    if (speaks()) around_.listener.epoch(record);
    if (run_.checkpoint_every == 0 || is_due() || at_.step >= last_step_) save();
  }

  void save() {
    if (run_.checkpoint.empty() || saved_step_ == at_.step) return;
    Progress whole = at_;
    const std::vector<float> loss =
        talk_.sum({static_cast<float>(at_.loss_sum), static_cast<float>(at_.loss_count)});
    whole.loss_sum = loss[0];
    whole.loss_count = loss[1];
    std::vector<Array> arrays = replica_.save();
    std::uint64_t well = 1;
    std::optional<Error> trouble;
    if (speaks()) {
      try {
        checkpoints_->save(
            at_.step, {.about = texts_of(whole, run_, trained_on()), .arrays = std::move(arrays)});
        around_.listener.saved(run_.checkpoint, at_.step);
      } catch (const Error& error) {
        trouble = error;
        well = 0;
      }
    }
    // Nobody goes on alone when rank 0 cannot write.
    well = talk_.broadcast(well);
    if (trouble) throw Error(*trouble);
    require(well == 1, Fault::peer, "rank 0 could not write the checkpoint");
    saved_step_ = at_.step;
  }

  void finish() {
    save();
    if (!run_.weights.empty() && !stopped_) export_weights();
    if (!speaks()) return;
    around_.listener.finished({.steps = at_.step,
                               .epochs = at_.epoch,
                               .stopped = stopped_,
                               .best_error = at_.best(),
                               .last_error = at_.last(),
                               .seconds = seconds_since(begun_),
                               .wire_bytes = total_.bytes,
                               .fp32_bytes = total_.fp32_bytes,
                               .replica_hash = replica_.hash(),
                               .times = total_.means()});
  }

  void export_weights() {
    const std::vector<Array> weights = replica_.weights();
    if (!speaks()) return;
    Snapshot snapshot = {.about = {{"format", "pt"}, {"network", run_.net}, {"data", run_.data}},
                         .arrays = weights};
    write_snapshot(run_.weights, snapshot);
  }

  const Run& run_;
  const Surroundings& around_;
  RankTalk talk_;
  DataSet data_;
  Feed feed_;
  Replica replica_;
  std::optional<Checkpoints> checkpoints_;
  std::uint64_t steps_per_epoch_ = 0;
  std::uint64_t last_step_ = 0;
  Progress at_;
  std::uint64_t saved_step_ = std::numeric_limits<std::uint64_t>::max();
  bool stopped_ = false;
  EpochSums total_;
  Clock::time_point begun_;
};

}  // namespace

void train_on_rank(const Run& run, const Surroundings& around) {
  set_threads(run.threads);
  Training(run, around).train();
}

}  // namespace narrowcast
