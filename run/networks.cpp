#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "run/run.hpp"

namespace narrowcast {
namespace {

constexpr std::array kRows{
    NetworkRow{"mnist-mlp", "D16: 784-1024-1024-10, ReLU, dropout", 1'863'690, "1x28x28", 10,
               "fashion-mnist"},
    NetworkRow{"cifar-conv", "D16: two convolutions, two locally connected layers", 2'047'434,
               "3x24x24", 10, "cifar10"},
    NetworkRow{"resnet20", "residual, 20 layers, for images of 32x32", 269'722, "3x32x32", 10,
               "cifar10"},
    NetworkRow{"resnet110", "residual, 110 layers, for images of 32x32", 1'727'962, "3x32x32", 10,
               "cifar10"},
    NetworkRow{"resnet18", "residual, 18 wide layers, for images of 32x32", 11'173'962, "3x32x32",
               10, "cifar10"},
    NetworkRow{"davidnet", "residual, 9 wide layers, trained in 25 epochs", 6'573'130, "3x32x32",
               10, "cifar10"},
    NetworkRow{"lstm", "the rows of an image as a sequence", 82'186, "1x28x28", 10,
               "fashion-mnist"},
    NetworkRow{"alexnet", "AlexNet without groups", 62'378'344, "3x227x227", 1000, "synthetic"},
    NetworkRow{"vgg19", "VGG, 19 layers", 143'667'240, "3x224x224", 1000, "synthetic"},
    NetworkRow{"resnet50", "residual, 50 layers", 25'557'032, "3x224x224", 1000, "synthetic"},
    NetworkRow{"resnet152", "residual, 152 layers", 60'192'808, "3x224x224", 1000, "synthetic"},
    NetworkRow{"bn-inception", "Inception with batch normalisation", 11'285'224, "3x224x224", 1000,
               "synthetic"},
    NetworkRow{"lstm-an4", "LSTM of 13 M parameters for speech", 13'062'276, "1x20x80", 132,
               "synthetic"},
    NetworkRow{"fcn", "fully convolutional, a class for each pixel", 32'955'987, "3x224x224", 19,
               "synthetic"},
};

}  // namespace

std::span<const NetworkRow> networks() { return kRows; }

const NetworkRow& network_row(std::string_view name) {
  const auto found = std::ranges::find(kRows, name, &NetworkRow::name);
  if (found != kRows.end()) return *found;
  std::vector<std::string_view> names;
  std::ranges::transform(kRows, std::back_inserter(names), &NetworkRow::name);
  throw Error(Fault::usage,
              fmt::format("no network '{}'; there are: {}", name, fmt::join(names, ", ")));
}

}  // namespace narrowcast
