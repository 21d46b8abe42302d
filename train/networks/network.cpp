#include "train/networks/network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "train/networks/builders.hpp"

namespace narrowcast {
namespace {

struct Builder {
  std::string_view name;
  std::shared_ptr<Network> (*build)(const Workshop& workshop);
};

constexpr Builder kBuilders[] = {
    {"mnist-mlp", mnist_mlp}, {"cifar-conv", cifar_conv},
    {"resnet20", resnet20},   {"resnet110", resnet110},
    {"resnet18", resnet18},   {"davidnet", davidnet},
    {"lstm", lstm},           {"alexnet", alexnet},
    {"vgg19", vgg19},         {"resnet50", resnet50},
    {"resnet152", resnet152}, {"bn-inception", bn_inception},
    {"lstm-an4", lstm_an4},   {"fcn", fcn},
};

}  // namespace

Network::Network(std::shared_ptr<Layer> features, std::shared_ptr<Layer> classifier)
    : features_(register_module("features", std::move(features))),
      classifier_(register_module("classifier", std::move(classifier))) {}

torch::Tensor Network::forward(const torch::Tensor& images) {
  return classifier_->forward(features_->forward(images));
}

std::vector<std::string_view> network_builders() {
  std::vector<std::string_view> names;
  for (const Builder& builder : kBuilders) names.push_back(builder.name);
  return names;
}

std::shared_ptr<Network> make_network(std::string_view name, const Workshop& workshop) {
  const auto* builder = std::ranges::find(kBuilders, name, &Builder::name);
  if (builder == std::end(kBuilders))
    throw Error(Fault::usage, fmt::format("no network '{}': there are {}", name,
                                          fmt::join(network_builders(), ", ")));
  return builder->build(workshop);
}

}  // namespace narrowcast
