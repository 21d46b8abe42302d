#pragma once

#include <torch/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exchange/exchange.hpp"
#include "run/run.hpp"
#include "store/store.hpp"
#include "train/data_parallel.hpp"
#include "train/loop/feed.hpp"
#include "train/loop/optimiser.hpp"
#include "train/loop/rank_talk.hpp"
#include "train/networks/network.hpp"
#include "train/split_linear.hpp"

namespace narrowcast {

// What one step did, on this rank.
struct StepOutcome {
  double loss = 0;  // mean over the images that this rank has seen
  double step_ms = 0;
  // Of back-propagation, the last one where a step has several.
  std::chrono::steady_clock::time_point backward_begins = {};
  double forward_ms = 0;  // until then, with the reading of images
  double backward_ms = 0;
  StepReport report = {};
};

// One rank's share of a network in training: whole in data parallelism, in parts otherwise.
class Replica {
 public:
  // `shape`: of the images. The same weights on all ranks, drawn by the run's seed.
  Replica(const Run& run, const ImageShape& shape, int classes, Transport& net);
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  std::uint64_t parameters() const { return parameters_; }  // of the whole network

  struct When {
    Moment moment;
    std::size_t step_in_epoch = 0;
    double rate = 0;
  };
  StepOutcome step(Feed& feed, const When& when);
  void ask_to_stop();

  // What it exchanges, in the order of StepReport::ready_at.
  const std::vector<Tensor>& tensors() const;

  // Percent of the test images that it gets wrong. All ranks call it and know the answer.
  double test(Feed& feed, std::size_t images, RankTalk& talk);

  // XXH3 of all parameters that every rank has whole, in the order of their names.
  std::uint64_t hash() const;

  // Weights, buffers, the optimiser's state and residuals, whole, on rank 0. All ranks call it.
  std::vector<Array> save();
  // Weights and buffers only, by their own names.
  std::vector<Array> weights();
  // The other way round: rank 0 has the arrays. Fault::wire when they are not this network's.
  void load(const std::vector<Array>& arrays, RankTalk& talk);

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
  std::uint64_t parameters_ = 0;
};

}  // namespace narrowcast
