#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Networks as tables: what their gradients weigh and what a step computes.
namespace narrowcast {

struct ModelTensor {
  std::string name;  // as train/ names it, where it has the network
  std::size_t elements = 0;
};

// In the order of the forward pass.
struct ModelLayer {
  std::string name;
  std::vector<ModelTensor> tensors = {};  // its parameters; none: pooling and the like are left out
  // Of one example (image, sequence). A multiplication and an addition are two.
  double forward_flops = 0;
  double backward_flops = 0;
  double launches = 1;  // that wait for each other: the steps of a sequence
  // Fully connected layers, which model parallelism splits; 0 for others.
  std::size_t inputs = 0;
  std::size_t outputs = 0;
};

struct Model {
  std::string name;
  std::vector<ModelLayer> layers = {};
  std::uint64_t parameters() const;
  double flops() const;  // of one example, forward and backward
};

struct ModelRow {
  std::string_view name;
  std::string_view summary;      // with its input and where its figures come from
  std::uint64_t parameters = 0;  // as published
  Model (*make)();
};
std::span<const ModelRow> models();
Model make_model(std::string_view name);  // Fault::usage lists the names

}  // namespace narrowcast
