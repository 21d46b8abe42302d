#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "run/run.hpp"

namespace narrowcast {

// SGD with momentum and Nesterov, RMSProp, Adam, LARS, by the same interface, with state by
// parameter name. The same gradients give the same bits on every machine.
class Stepper {
 public:
  virtual ~Stepper() = default;
  // One step with the gradients that are there; parameters without a gradient stay.
  virtual void step(double rate) = 0;
  // State tensors by name, e.g. "momentum/features.conv1.weight": to be saved, and to be written to
  // when loading. Made at the start, so the list never changes.
  virtual std::vector<std::pair<std::string, torch::Tensor>> state() = 0;
  // Steps so far (adam).
  std::int64_t steps = 0;
};

using NamedParameters = std::vector<std::pair<std::string, torch::Tensor>>;
// Rules are torch.optim's, and LARS is that of You et al. (2017): a tensor's rate is
//   trust * |w| / (|g| + weight_decay * |w| + epsilon),
// biases and the like, of one dimension, take the plain rate and no weight decay. Parameters are
// contiguous floats; Fault::usage for an optimiser that does not exist or has no such setting.
std::unique_ptr<Stepper> make_stepper(const Optimiser& optimiser, NamedParameters parameters);

}  // namespace narrowcast
