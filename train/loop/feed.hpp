#pragma once

#include <torch/types.h>

#include <cstddef>
#include <vector>

#include "data/data.hpp"
#include "run/run.hpp"

namespace narrowcast {

struct Batch {
  torch::Tensor images;
  torch::Tensor labels;
};

// The batches that one rank trains and tests on.
class Feed {
 public:
  struct Place {  // among ranks that see different images
    int rank = 0;
    int ranks = 1;
    std::size_t batch = 0;  // images a step
  };
  Feed(const Run& run, const DataSet& data, const Place& place);

  ImageShape shape() const { return prepared_shape(data_.train->shape(), training_); }
  std::size_t steps_per_epoch() const;

  void set_epoch(std::uint64_t epoch);
  // Part `part` of `parts` of that step's images. Valid until the next call.
  Batch training(std::size_t step_in_epoch, std::size_t part, std::size_t parts);

  // Test images [first, first + count).
  Batch testing(std::size_t first, std::size_t count);

 private:
  Batch fill(const Images& from, std::span<const std::size_t> images, const Preparation& how);

  const DataSet& data_;
  Sharding sharding_;
  Preparation training_;
  Preparation testing_;
  std::vector<std::size_t> order_;
};

}  // namespace narrowcast
