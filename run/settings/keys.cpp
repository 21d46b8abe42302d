#include "run/settings/keys.hpp"

#include <algorithm>
#include <array>

#include "plan/values.hpp"
#include "run/settings/fields.hpp"

namespace narrowcast {
namespace {

using field::put;
using field::text;
using Text = std::string_view;

constexpr std::array kParallels{Named<Parallel>{"data", Parallel::data},
                                Named<Parallel>{"model", Parallel::model},
                                Named<Parallel>{"hybrid", Parallel::hybrid}};

constexpr std::array kSplits{Named<Split>{"output", Split::output},
                             Named<Split>{"input", Split::input}};

constexpr std::array<Text, 4> kOptimisers{"sgd", "rmsprop", "adam", "lars"};
constexpr std::array<Text, 5> kShapes{"constant", "exponential", "steps", "linear", "cosine"};

constexpr field::Range kAny{};
constexpr field::Range kPart{.least = 0, .most = 1};

bool put_one_of(std::string& target, std::span<const Text> names, Text name) {
  return std::ranges::find(names, name) != names.end() && put(target, name);
}

bool put_positive(double& target, Text value) {
  double positive = 0;
  if (!put(positive, value, kAny) || positive == 0) return false;
  target = positive;
  return true;
}

// Below 1: means over time that never forget are none.
bool put_decay(double& target, Text value) {
  double decay = 0;
  if (!put(decay, value, kPart) || decay == 1) return false;
  target = decay;
  return true;
}

constexpr std::array kRows{
    RunKey{"setup", "the name of a recipe, or empty for the network's own",
           [](Run& run, Text value) { return put(run.setup, value); },
           [](const Run& run) { return text(run.setup); }},
    RunKey{"net", "the name of a network", [](Run& run, Text value) { return put(run.net, value); },
           [](const Run& run) { return text(run.net); }},
    RunKey{"data", "the name of a data set, a folder or a file",
           [](Run& run, Text value) { return !value.empty() && put(run.data, value); },
           [](const Run& run) { return text(run.data); }},
    RunKey{"data_folder", "a folder",
           [](Run& run, Text value) { return put(run.data_folder, value); },
           [](const Run& run) { return text(run.data_folder); }},
    RunKey{"parallel", "one of data, model, hybrid",
           [](Run& run, Text value) {
             const std::optional<Parallel> parallel = value_of(kParallels, value);
             run.parallel = parallel.value_or(run.parallel);
             return parallel.has_value();
           },
           [](const Run& run) { return in_quotes(name_of(kParallels, run.parallel)); }},
    RunKey{"epochs", "a whole number from 1",
           [](Run& run, Text value) { return put(run.epochs, value, 1); },
           [](const Run& run) { return text(run.epochs); }},
    RunKey{"steps", "a whole number, 0 for no limit",
           [](Run& run, Text value) { return put(run.steps, value); },
           [](const Run& run) { return text(run.steps); }},
    RunKey{"batch", "a whole number from 1",
           [](Run& run, Text value) { return put(run.batch, value, 1); },
           [](const Run& run) { return text(run.batch); }},
    RunKey{"accumulate", "a whole number from 1",
           [](Run& run, Text value) { return put(run.accumulate, value, 1); },
           [](const Run& run) { return text(run.accumulate); }},
    RunKey{"split", "output or input",
           [](Run& run, Text value) {
             const std::optional<Split> split = value_of(kSplits, value);
             run.split = split.value_or(run.split);
             return split.has_value();
           },
           [](const Run& run) { return in_quotes(name_of(kSplits, run.split)); }},
    RunKey{"sub_batches", "a whole number from 1",
           [](Run& run, Text value) { return put(run.sub_batches, value, 1); },
           [](const Run& run) { return text(run.sub_batches); }},
    RunKey{"seed", "a whole number", [](Run& run, Text value) { return put(run.seed, value); },
           [](const Run& run) { return text(run.seed); }},
    RunKey{"clip", "a number from 0, 0 for none",
           [](Run& run, Text value) { return put(run.clip, value, kAny); },
           [](const Run& run) { return text(run.clip); }},
    RunKey{"pad", "a whole number", [](Run& run, Text value) { return put(run.pad, value, 0); },
           [](const Run& run) { return text(run.pad); }},
    RunKey{"crop", "a whole number, 0 for the image's own size",
           [](Run& run, Text value) { return put(run.crop, value, 0); },
           [](const Run& run) { return text(run.crop); }},
    RunKey{"flip", "true or false", [](Run& run, Text value) { return put(run.flip, value); },
           [](const Run& run) { return text(run.flip); }},
    RunKey{"dropout", "true or false", [](Run& run, Text value) { return put(run.dropout, value); },
           [](const Run& run) { return text(run.dropout); }},
    RunKey{"checkpoint", "a folder, or empty for none",
           [](Run& run, Text value) { return put(run.checkpoint, value); },
           [](const Run& run) { return text(run.checkpoint); }},
    RunKey{"checkpoint_every", "a whole number of steps, 0 for every epoch",
           [](Run& run, Text value) { return put(run.checkpoint_every, value); },
           [](const Run& run) { return text(run.checkpoint_every); }},
    RunKey{"resume", "true or false", [](Run& run, Text value) { return put(run.resume, value); },
           [](const Run& run) { return text(run.resume); }},
    RunKey{"weights", "a file, or empty for none",
           [](Run& run, Text value) { return put(run.weights, value); },
           [](const Run& run) { return text(run.weights); }},
    RunKey{"hash_every", "a whole number of steps, 0 for every epoch",
           [](Run& run, Text value) { return put(run.hash_every, value); },
           [](const Run& run) { return text(run.hash_every); }},
    RunKey{"threads", "a whole number from 1",
           [](Run& run, Text value) { return put(run.threads, value, 1); },
           [](const Run& run) { return text(run.threads); }},
    RunKey{"test", "true or false", [](Run& run, Text value) { return put(run.test, value); },
           [](const Run& run) { return text(run.test); }},
    RunKey{"optimiser.name", "one of sgd, rmsprop, adam, lars",
           [](Run& run, Text value) { return put_one_of(run.optimiser.name, kOptimisers, value); },
           [](const Run& run) { return text(run.optimiser.name); }},
    RunKey{"optimiser.rate", "a number above 0",
           [](Run& run, Text value) { return put_positive(run.optimiser.rate, value); },
           [](const Run& run) { return text(run.optimiser.rate); }},
    RunKey{"optimiser.momentum", "a number from 0, below 1",
           [](Run& run, Text value) { return put_decay(run.optimiser.momentum, value); },
           [](const Run& run) { return text(run.optimiser.momentum); }},
    RunKey{"optimiser.nesterov", "true or false",
           [](Run& run, Text value) { return put(run.optimiser.nesterov, value); },
           [](const Run& run) { return text(run.optimiser.nesterov); }},
    RunKey{"optimiser.decay", "a number from 0, below 1",
           [](Run& run, Text value) { return put_decay(run.optimiser.decay, value); },
           [](const Run& run) { return text(run.optimiser.decay); }},
    RunKey{"optimiser.decay2", "a number from 0, below 1",
           [](Run& run, Text value) { return put_decay(run.optimiser.decay2, value); },
           [](const Run& run) { return text(run.optimiser.decay2); }},
    RunKey{"optimiser.epsilon", "a number above 0",
           [](Run& run, Text value) { return put_positive(run.optimiser.epsilon, value); },
           [](const Run& run) { return text(run.optimiser.epsilon); }},
    RunKey{"optimiser.weight_decay", "a number from 0",
           [](Run& run, Text value) { return put(run.optimiser.weight_decay, value, kAny); },
           [](const Run& run) { return text(run.optimiser.weight_decay); }},
    RunKey{"optimiser.trust", "a number above 0",
           [](Run& run, Text value) { return put_positive(run.optimiser.trust, value); },
           [](const Run& run) { return text(run.optimiser.trust); }},
    RunKey{"schedule.shape", "one of constant, exponential, steps, linear, cosine",
           [](Run& run, Text value) { return put_one_of(run.schedule.shape, kShapes, value); },
           [](const Run& run) { return text(run.schedule.shape); }},
    RunKey{"schedule.warm_up", "a number of epochs from 0",
           [](Run& run, Text value) { return put(run.schedule.warm_up, value, kAny); },
           [](const Run& run) { return text(run.schedule.warm_up); }},
    RunKey{"schedule.warm_from", "a number from 0 to 1",
           [](Run& run, Text value) { return put(run.schedule.warm_from, value, kPart); },
           [](const Run& run) { return text(run.schedule.warm_from); }},
    RunKey{"schedule.factor", "a number above 0",
           [](Run& run, Text value) { return put_positive(run.schedule.factor, value); },
           [](const Run& run) { return text(run.schedule.factor); }},
    RunKey{"schedule.at", "epochs that ascend, as in 30,60",
           [](Run& run, Text value) { return put(run.schedule.at, value); },
           [](const Run& run) { return text(run.schedule.at); }},
};

}  // namespace

std::span<const RunKey> run_key_rows() { return kRows; }

}  // namespace narrowcast
