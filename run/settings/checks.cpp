#include "run/settings/checks.hpp"

#include <fmt/core.h>

#include "plan/values.hpp"

namespace narrowcast {
namespace {

class Checks {
 public:
  explicit Checks(const Origins& origins) : origins_(origins) {}

  void refuse_if(bool misfit, std::string_view key, std::string_view why) const {
    if (!misfit) return;
    const auto found = origins_.find(key);
    throw unfit(found == origins_.end() ? key : std::string_view(found->second), why);
  }

 private:
  const Origins& origins_;
};

void check_checkpoints(const Run& run, const Checks& check) {
  const bool none = run.checkpoint.empty();
  check.refuse_if(run.resume && none, "resume",
                  "resume needs checkpoint, the folder to go on from");
  check.refuse_if(run.checkpoint_every > 0 && none, "checkpoint_every",
                  "checkpoint_every needs checkpoint, the folder to write to");
}

void check_batches(const Run& run, const Checks& check) {
  check.refuse_if(run.split != Split::output && run.parallel != Parallel::model, "split",
                  "split = input is for parallel = model");
  check.refuse_if(run.sub_batches > 1 && run.parallel != Parallel::hybrid, "sub_batches",
                  "sub_batches are for parallel = hybrid");
  check.refuse_if(run.batch % run.sub_batches != 0, "sub_batches",
                  fmt::format("a batch of {} cannot be cut into {} equal sub_batches", run.batch,
                              run.sub_batches));
}

void check_optimiser(const Optimiser& optimiser, const Checks& check) {
  check.refuse_if(optimiser.nesterov && optimiser.name != "sgd", "optimiser.nesterov",
                  fmt::format("nesterov is for sgd, not for {}", optimiser.name));
  check.refuse_if(optimiser.nesterov && optimiser.momentum == 0, "optimiser.nesterov",
                  "nesterov needs a momentum above 0");
  check.refuse_if(optimiser.momentum != 0 && optimiser.name != "sgd" && optimiser.name != "lars",
                  "optimiser.momentum",
                  fmt::format("momentum is for sgd and lars, not for {}", optimiser.name));
}

void check_schedule(const Schedule& schedule, const Checks& check) {
  const bool steps = schedule.shape == "steps";
  check.refuse_if(steps && schedule.at.empty(), "schedule.shape",
                  "a schedule of shape steps needs at, the epochs of its steps");
  check.refuse_if(!steps && !schedule.at.empty(), "schedule.at",
                  fmt::format("at is for a schedule of shape steps, not {}", schedule.shape));
  check.refuse_if(schedule.factor != 1 && !steps && schedule.shape != "exponential",
                  "schedule.factor",
                  fmt::format("factor is for a schedule of shape steps or exponential, not {}",
                              schedule.shape));
  check.refuse_if(schedule.warm_from != 0 && schedule.warm_up == 0, "schedule.warm_from",
                  "warm_from needs warm_up, the epochs that it takes");
}

}  // namespace

void check_run(const Run& run, const Origins& origins) {
  const Checks check(origins);
  check_checkpoints(run, check);
  check_batches(run, check);
  check_optimiser(run.optimiser, check);
  check_schedule(run.schedule, check);
}

}  // namespace narrowcast
