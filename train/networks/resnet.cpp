#include <fmt/format.h>
#include <torch/torch.h>

#include <array>
#include <limits>

#include "train/networks/builders.hpp"
#include "train/networks/layers.hpp"

// Residual networks (He et al., 2016), and the fully convolutional one that stands on them.
namespace narrowcast {
namespace {

// y = relu(residual(x) + shortcut(x))
class Block : public Layer {
 public:
  Block(const std::shared_ptr<Layer>& residual, Chain::Step shortcut)
      : residual_(register_module("residual", residual)), shortcut_(std::move(shortcut)) {}
  Block(const std::shared_ptr<Layer>& residual, const std::shared_ptr<Layer>& shortcut)
      : Block(residual, [shortcut](const torch::Tensor& x) { return shortcut->forward(x); }) {
    register_module("shortcut", shortcut);
  }
  torch::Tensor forward(const torch::Tensor& input) override {
    return (residual_->forward(input) + shortcut_(input)).relu_();
  }

 private:
  std::shared_ptr<Layer> residual_;
  Chain::Step shortcut_;
};

struct BlockShape {
  std::int64_t inputs = 0;
  std::int64_t width = 0;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
};

torch::Tensor same(const torch::Tensor& x) { return x; }

std::shared_ptr<Layer> two_convolutions(const BlockShape& shape) {
  auto residual = std::make_shared<Chain>();
  residual
      ->add("conv1", conv_norm_relu(
                         {.inputs = shape.inputs, .outputs = shape.width, .stride = shape.stride}))
      .add("conv2", conv_norm({.inputs = shape.width, .outputs = shape.width}));
  return residual;
}

// Every second pixel, and zeros for the new channels: no parameters, as the paper has it for CIFAR.
torch::Tensor thinned(const torch::Tensor& x) {
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  const std::int64_t half = x.size(1) / 2;
  return torch::constant_pad_nd(x.slice(2, 0, kEnd, 2).slice(3, 0, kEnd, 2),
                                {0, 0, 0, 0, half, half});
}

std::shared_ptr<Layer> slim_block(const BlockShape& shape) {
  return std::make_shared<Block>(two_convolutions(shape), shape.stride == 1 ? same : thinned);
}

std::shared_ptr<Layer> projection(const BlockShape& shape, std::int64_t outputs) {
  return conv_norm(
      {.inputs = shape.inputs, .outputs = outputs, .kernel = 1, .stride = shape.stride});
}

std::shared_ptr<Layer> plain_block(const BlockShape& shape) {
  auto residual = two_convolutions(shape);
  if (shape.inputs == shape.width) return std::make_shared<Block>(residual, same);
  return std::make_shared<Block>(residual, projection(shape, shape.width));
}

// Strides in the 3x3 convolution, as everybody has them since Goyal et al. (2017).
std::shared_ptr<Layer> bottleneck(const BlockShape& shape) {
  const std::int64_t outputs = 4 * shape.width;
  auto residual = std::make_shared<Chain>();
  residual
      ->add("conv1", conv_norm_relu({.inputs = shape.inputs, .outputs = shape.width, .kernel = 1}))
      .add("conv2", conv_norm_relu({.inputs = shape.width,
                                    .outputs = shape.width,
                                    .stride = shape.stride,
                                    .dilation = shape.dilation}))
      .add("conv3", conv_norm({.inputs = shape.width, .outputs = outputs, .kernel = 1}));
  if (shape.inputs == outputs) return std::make_shared<Block>(residual, same);
  return std::make_shared<Block>(residual, projection(shape, outputs));
}

struct StageShape {
  int number = 1;
  int blocks = 0;
  BlockShape first = {};
  std::int64_t outputs = 0;
  std::shared_ptr<Layer> (*block)(const BlockShape& shape) = nullptr;
};

void add_stage(Chain& chain, const StageShape& stage) {
  BlockShape shape = stage.first;
  for (int block = 1; block <= stage.blocks; ++block) {
    chain.add(fmt::format("stage{}_block{}", stage.number, block), stage.block(shape));
    shape.inputs = stage.outputs;
    shape.stride = 1;
  }
}

// Three stages of 16, 32 and 64 channels.
std::shared_ptr<Network> slim_resnet(std::string_view name, const Workshop& workshop, int blocks) {
  need_side(name, workshop, 8);
  auto features = std::make_shared<Chain>();
  features->add("stem", conv_norm_relu({.inputs = workshop.input.channels, .outputs = 16}));
  std::int64_t inputs = 16;
  for (int stage = 1; stage <= 3; ++stage) {
    const std::int64_t width = std::int64_t{8} << stage;
    add_stage(*features, {.number = stage,
                          .blocks = blocks,
                          .first = {.inputs = inputs, .width = width, .stride = stage == 1 ? 1 : 2},
                          .outputs = width,
                          .block = slim_block});
    inputs = width;
  }
  features->then(global_mean);
  return std::make_shared<Network>(features, one_linear(workshop, inputs));
}

enum class LastStages { strided, dilated };

// Stem and four stages of bottlenecks: 2048 channels, of a 32nd of the size, or of an eighth where
// the last stages are dilated.
std::shared_ptr<Chain> deep_body(const Workshop& workshop, const std::array<int, 4>& blocks,
                                 LastStages last) {
  auto body = std::make_shared<Chain>();
  body->add("stem",
            conv_norm_relu(
                {.inputs = workshop.input.channels, .outputs = 64, .kernel = 7, .stride = 2}))
      .then(max_pool({.kernel = 3, .stride = 2, .pad = 1}));
  std::int64_t inputs = 64;
  for (int stage = 1; stage <= 4; ++stage) {
    const std::int64_t width = std::int64_t{32} << stage;
    const bool dilated = last == LastStages::dilated && stage >= 3;
    add_stage(*body, {.number = stage,
                      .blocks = blocks[static_cast<std::size_t>(stage - 1)],
                      .first = {.inputs = inputs,
                                .width = width,
                                .stride = stage == 1 || dilated ? 1 : 2,
                                .dilation = dilated ? std::int64_t{1} << (stage - 2) : 1},
                      .outputs = 4 * width,
                      .block = bottleneck});
    inputs = 4 * width;
  }
  return body;
}

std::shared_ptr<Network> deep_resnet(std::string_view name, const Workshop& workshop,
                                     const std::array<int, 4>& blocks) {
  need_side(name, workshop, 64);
  auto features = deep_body(workshop, blocks, LastStages::strided);
  features->then(global_mean);
  return std::make_shared<Network>(features, one_linear(workshop, 2048));
}

}  // namespace

std::shared_ptr<Network> resnet20(const Workshop& workshop) {
  return slim_resnet("resnet20", workshop, 3);
}

std::shared_ptr<Network> resnet110(const Workshop& workshop) {
  return slim_resnet("resnet110", workshop, 18);
}

// For CIFAR: the stem keeps the size of the image.
std::shared_ptr<Network> resnet18(const Workshop& workshop) {
  need_side("resnet18", workshop, 8);
  auto features = std::make_shared<Chain>();
  features->add("stem", conv_norm_relu({.inputs = workshop.input.channels, .outputs = 64}));
  std::int64_t inputs = 64;
  for (int stage = 1; stage <= 4; ++stage) {
    const std::int64_t width = std::int64_t{32} << stage;
    add_stage(*features, {.number = stage,
                          .blocks = 2,
                          .first = {.inputs = inputs, .width = width, .stride = stage == 1 ? 1 : 2},
                          .outputs = width,
                          .block = plain_block});
    inputs = width;
  }
  features->then(global_mean);
  return std::make_shared<Network>(features, one_linear(workshop, inputs));
}

std::shared_ptr<Network> resnet50(const Workshop& workshop) {
  return deep_resnet("resnet50", workshop, {3, 4, 6, 3});
}

std::shared_ptr<Network> resnet152(const Workshop& workshop) {
  return deep_resnet("resnet152", workshop, {3, 8, 36, 3});
}

// Long et al. (2015) on ResNet-50, as is usual today: scores for every eighth pixel. What a training
// run wants are scores for the image, so the map's mean is taken; the arithmetic and the gradients'
// sizes are those of segmentation. There are no fully connected layers.
std::shared_ptr<Network> fcn(const Workshop& workshop) {
  need_side("fcn", workshop, 64);
  auto features = deep_body(workshop, {3, 4, 6, 3}, LastStages::dilated);
  features->add("head", conv_norm_relu({.inputs = 2048, .outputs = 512}))
      .add("score", conv({.inputs = 512, .outputs = workshop.classes, .kernel = 1}))
      .then(global_mean);
  return std::make_shared<Network>(features, std::make_shared<Chain>());
}

}  // namespace narrowcast
