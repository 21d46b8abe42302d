#include "predict/models.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/error.hpp"
#include "predict/models/tables.hpp"

namespace narrowcast {
namespace {

constexpr std::array kRows{
    ModelRow{"mnist-mlp", "784-1024-1024-10, images of 1x28x28 (Dettmers 2016)", 1'863'690,
             mnist_mlp_table},
    ModelRow{
        "cifar-conv",
        "two convolutions, two locally connected layers, images of 3x24x24 (Dettmers 2016; the "
        "total is ours)",
        2'047'434, cifar_conv_table},
    ModelRow{
        "d16-alexnet",
        "AlexNet with 9216-3072-3072-1000 fully connected, images of 3x227x227 (Dettmers 2016; "
        "the total is ours)",
        44'575'080, d16_alexnet_table},
    ModelRow{"resnet20", "residual, images of 3x32x32 (He et al. 2016)", 269'722, resnet20_table},
    ModelRow{"resnet110", "residual, images of 3x32x32 (He et al. 2016)", 1'727'962,
             resnet110_table},
    ModelRow{"resnet18", "residual and wide, images of 3x32x32 (He et al. 2016, stem for CIFAR)",
             11'173'962, resnet18_table},
    ModelRow{"davidnet", "residual, nine wide layers, images of 3x32x32 (Page 2018)", 6'573'130,
             davidnet_table},
    ModelRow{"lstm", "128 cells, 28 rows of 28 values (the network is ours)", 82'186, lstm_table},
    ModelRow{"alexnet", "without groups, images of 3x227x227 (Krizhevsky et al. 2012)", 62'378'344,
             alexnet_table},
    ModelRow{"vgg19", "configuration E, images of 3x224x224 (Simonyan and Zisserman 2015)",
             143'667'240, vgg19_table},
    ModelRow{"resnet50", "bottlenecks, images of 3x224x224 (He et al. 2016)", 25'557'032,
             resnet50_table},
    ModelRow{"resnet152", "bottlenecks, images of 3x224x224 (He et al. 2016)", 60'192'808,
             resnet152_table},
    ModelRow{"bn-inception",
             "batch normalisation, images of 3x224x224 (Ioffe and Szegedy 2015, Caffe's model)",
             11'285'224, bn_inception_table},
    ModelRow{"lstm-an4",
             "two layers of 1024 cells, 20 frames of 80 values (QSGD's 13 M; the layers are ours)",
             13'062'276, lstm_an4_table},
    ModelRow{"fcn",
             "a class for each eighth pixel, images of 3x224x224 (Long et al. 2015 on ResNet-50)",
             32'955'987, fcn_table},
    ModelRow{"gpt2", "GPT-2 small, sequences of 1024 tokens (Radford et al. 2019)", 124'439'808,
             gpt2_table},
};

}  // namespace

std::uint64_t Model::parameters() const {
  std::uint64_t sum = 0;
  for (const ModelLayer& layer : layers)
    for (const ModelTensor& tensor : layer.tensors) sum += tensor.elements;
  return sum;
}

double Model::flops() const {
  double sum = 0;
  for (const ModelLayer& layer : layers) sum += layer.forward_flops + layer.backward_flops;
  return sum;
}

std::span<const ModelRow> models() { return kRows; }

Model make_model(std::string_view name) {
  const auto found = std::ranges::find(kRows, name, &ModelRow::name);
  if (found != kRows.end()) return found->make();
  std::vector<std::string_view> names;
  std::ranges::transform(kRows, std::back_inserter(names), &ModelRow::name);
  throw Error(Fault::usage,
              fmt::format("no network '{}'; there are: {}", name, fmt::join(names, ", ")));
}

}  // namespace narrowcast
