#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "data/data.hpp"

namespace narrowcast {

// A layer with one input and one output.
class Layer : public torch::nn::Module {
 public:
  virtual torch::Tensor forward(const torch::Tensor& input) = 0;
};

// What networks are built of that depends on the run.
struct Workshop {
  ImageShape input = {};  // channels x height x width; a network that needs another says so
  int classes = 10;
  // Who throws for dropout; none: no dropout. It belongs to the caller and outlives the network, who
  // sets `step` before every step and, where a step has several forward passes, `hop` before each: so
  // a run repeats itself, and a checkpoint needs no state of it. Only classifiers drop out: where they
  // are split, the dice of all ranks have the same `rank`, because all compute the same.
  const Dice* dice = nullptr;
  // Fully connected layers of the classifier, whole or split: `name` within the classifier.
  struct LinearWish {
    std::string_view name;
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
  };
  std::function<std::shared_ptr<Layer>(const LinearWish&)> linear = {};  // none: whole
};

// Two halves: what is data-parallel in a hybrid, and the fully connected layers after it. Both are
// registered, as `features` and `classifier`, so parameters are named "features.conv1.weight".
// Between them goes a matrix, batch x values.
class Network : public torch::nn::Module {
 public:
  Network(std::shared_ptr<Layer> features, std::shared_ptr<Layer> classifier);
  torch::Tensor forward(
      const torch::Tensor& images);  // batch x channels x height x width -> scores
  Layer& features() { return *features_; }
  Layer& classifier() { return *classifier_; }

 private:
  std::shared_ptr<Layer> features_;
  std::shared_ptr<Layer> classifier_;
};

// Builds what run/'s list names; an input that does not fit is Fault::usage. Weights are drawn from
// torch's default generator, which the caller seeds.
std::shared_ptr<Network> make_network(std::string_view name, const Workshop& workshop);

// Names that have a builder; a test holds them to networks().
std::vector<std::string_view> network_builders();

}  // namespace narrowcast
