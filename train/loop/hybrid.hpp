#pragma once

#include <torch/types.h>

#include <functional>

#include "train/networks/network.hpp"
#include "train/split_linear.hpp"

namespace narrowcast {

// This rank's images of one step; all ranks have as many, and cut them alike.
struct HybridBatch {
  torch::Tensor images;
  torch::Tensor labels;
  int sub_batches = 1;  // as even as can be, and at most one for each image
  // Called before the classifier sees sub-batch k: other dice for its dropout.
  std::function<void(int k)> before = {};
};

struct HybridLoss {
  double loss = 0;  // mean over the images of all ranks: the same on each
};

// One forward and backward pass as in Krizhevsky's "one weird trick": features are data-parallel, the
// classifier's layers are split. The ranks gather their features sub-batch by sub-batch, each rank
// computes its part of the classifier on the images of all, and what comes back for the features goes
// to the rank whose images they are. Transfers of the next sub-batch and of the one before go on
// while one is computed.
//
// Gradients are added to those that are there. The classifier's are of the mean over the images of
// all ranks, and final. The features' are of the mean over this rank's images, as in plain data
// parallelism: averaged over the ranks they are of the mean over all.
//
// Fault::usage when the classifier has no split layers, or none that were made for a hybrid.
HybridLoss hybrid_step(Network& network, const HybridBatch& batch, ActivationLink& link);

}  // namespace narrowcast
