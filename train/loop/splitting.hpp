#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "run/run.hpp"
#include "train/networks/network.hpp"
#include "train/split_linear.hpp"

// Networks whose fully connected layers are split over the ranks, and how their parts become whole
// again: checkpoints do not depend on the number of ranks.
namespace narrowcast {

using LinearMaker = std::function<std::shared_ptr<Layer>(const Workshop::LinearWish&)>;

// Makes a network's fully connected layers, split by output, with parameters named like whole ones
// and initial weights that are parts of theirs. In a hybrid the first one that it makes leaves the
// gradient of its input in parts, for hybrid_step() to sum; so each network needs a maker of its own.
LinearMaker split_linear_maker(ActivationLink& link, Parallel parallel,
                               Split split = Split::output);

// A parameter of which each rank has some rows (dimension 0) or columns (1).
struct SplitParameter {
  std::int64_t dimension = 0;
  std::vector<std::int64_t> shape = {};  // of the whole
  Share share = {};                      // this rank's
};
using SplitLayers = std::map<std::string, SplitParameter>;  // by the parameter's name
SplitLayers split_layers(const torch::nn::Module& network);

bool splits(const SplitLayers& layers, const std::string& parameter);

// Those and whatever else belongs to split layers: what the exchange has nothing to do with.
std::vector<std::string> split_parameters(const torch::nn::Module& network);

// Whether the first of a network's split layers leaves the gradient of its input in parts.
bool is_made_for_hybrid(const torch::nn::Module& network);

std::uint64_t whole_elements(const SplitLayers& layers, const std::string& parameter);

// Functions below take the parameter or anything of its shape, such as its optimiser's state.

// Not initialised; of the type of `part`.
torch::Tensor whole_like(const SplitLayers& layers, const std::string& parameter,
                         const torch::Tensor& part);

// Put together, exactly, on every rank. All ranks call it.
torch::Tensor whole_of(const SplitLayers& layers, const std::string& parameter,
                       const torch::Tensor& part, ActivationLink& link);
// This rank's part.
torch::Tensor part_of(const SplitLayers& layers, const std::string& parameter,
                      const torch::Tensor& whole);

}  // namespace narrowcast
