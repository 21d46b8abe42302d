#include "predict/models/draft.hpp"
#include "predict/models/tables.hpp"

// The small networks of Dettmers (2016); his AlexNet is with the other one.
namespace narrowcast {

Model mnist_mlp_table() {
  return ModelDraft("mnist-mlp", {1, 28, 28})
      .linear("classifier.fc1", 1024)
      .linear("classifier.fc2", 1024)
      .linear("classifier.fc3", 10)
      .done();
}

Model cifar_conv_table() {
  return ModelDraft("cifar-conv", {3, 24, 24})
      .conv("features.conv1", {.outputs = 64, .kernel = 5})
      .pool_over_border({.kernel = 3, .stride = 2})
      .conv("features.conv2", {.outputs = 64})
      .pool_over_border({.kernel = 3, .stride = 2})
      .local("features.local3", 64)
      .local("features.local4", 32)
      .linear("classifier.fc", 10)
      .done();
}

}  // namespace narrowcast
