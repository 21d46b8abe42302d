#include "predict/models/draft.hpp"
#include "predict/models/tables.hpp"

namespace narrowcast {

// Page (2018), nine layers: A20's first network.
Model davidnet_table() {
  const ModelDraft::Pool half = {.kernel = 2, .stride = 2};
  return ModelDraft("davidnet", {3, 32, 32})
      .conv_norm("features.prep", {.outputs = 64})
      .conv_norm("features.conv1", {.outputs = 128})
      .pool(half)
      .conv_norm("features.residual1.conv1", {.outputs = 128})
      .conv_norm("features.residual1.conv2", {.outputs = 128})
      .conv_norm("features.conv2", {.outputs = 256})
      .pool(half)
      .conv_norm("features.conv3", {.outputs = 512})
      .pool(half)
      .conv_norm("features.residual3.conv1", {.outputs = 512})
      .conv_norm("features.residual3.conv2", {.outputs = 512})
      .global_pool()
      .linear("classifier.fc", 10)
      .done();
}

}  // namespace narrowcast
