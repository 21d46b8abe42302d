#include <torch/torch.h>

#include "train/networks/builders.hpp"
#include "train/networks/layers.hpp"

// Ioffe and Szegedy (2015), the network that batch normalisation came with.
namespace narrowcast {
namespace {

// Four branches of the same input, stacked by channel.
class Fork : public Layer {
 public:
  Fork& add(const std::string& name, const std::shared_ptr<Layer>& branch) {
    branches_.push_back(register_module(name, branch));
    return *this;
  }
  torch::Tensor forward(const torch::Tensor& input) override {
    std::vector<torch::Tensor> outputs;
    for (const auto& branch : branches_) outputs.push_back(branch->forward(input));
    return torch::cat(outputs, 1);
  }

 private:
  std::vector<std::shared_ptr<Layer>> branches_;
};

enum class Pool { mean, max };

// Channels of each branch. Modules without `single` and `pooled` halve the size.
struct ModuleShape {
  const char* name;
  std::int64_t inputs;
  std::int64_t single;         // 1x1
  std::int64_t reduced;        // 1x1, and then
  std::int64_t triple;         // 3x3
  std::int64_t twice_reduced;  // 1x1, and then
  std::int64_t twice;          // two of 3x3
  std::int64_t pooled;         // 3x3 pooling, 1x1
  Pool pool;
};

// As Caffe's model of it has them, with which most comparisons are made.
constexpr ModuleShape kModules[] = {
    {"inception3a", 192, 64, 64, 64, 64, 96, 32, Pool::mean},
    {"inception3b", 256, 64, 64, 96, 64, 96, 64, Pool::mean},
    {"inception3c", 320, 0, 128, 160, 64, 96, 0, Pool::max},
    {"inception4a", 576, 224, 64, 96, 96, 128, 128, Pool::mean},
    {"inception4b", 576, 192, 96, 128, 96, 128, 128, Pool::mean},
    {"inception4c", 576, 160, 128, 160, 128, 160, 128, Pool::mean},
    {"inception4d", 608, 96, 128, 192, 160, 192, 128, Pool::mean},
    {"inception4e", 608, 0, 128, 192, 192, 256, 0, Pool::max},
    {"inception5a", 1056, 352, 192, 320, 160, 224, 128, Pool::mean},
    {"inception5b", 1024, 352, 192, 320, 192, 224, 128, Pool::max},
};

Chain::Step pool_of(const ModuleShape& shape, std::int64_t stride) {
  if (shape.pool == Pool::max) return max_pool({.kernel = 3, .stride = stride, .pad = 1});
  return [stride](const torch::Tensor& x) { return torch::avg_pool2d(x, 3, stride, 1); };
}

std::shared_ptr<Layer> inception(const ModuleShape& shape) {
  const bool halves = shape.single == 0;
  const std::int64_t stride = halves ? 2 : 1;
  auto fork = std::make_shared<Fork>();
  if (!halves)
    fork->add("single",
              conv_norm_relu({.inputs = shape.inputs, .outputs = shape.single, .kernel = 1}));
  auto triple = std::make_shared<Chain>();
  triple
      ->add("reduce",
            conv_norm_relu({.inputs = shape.inputs, .outputs = shape.reduced, .kernel = 1}))
      .add("conv",
           conv_norm_relu({.inputs = shape.reduced, .outputs = shape.triple, .stride = stride}));
  auto twice = std::make_shared<Chain>();
  twice
      ->add("reduce",
            conv_norm_relu({.inputs = shape.inputs, .outputs = shape.twice_reduced, .kernel = 1}))
      .add("conv1", conv_norm_relu({.inputs = shape.twice_reduced, .outputs = shape.twice}))
      .add("conv2",
           conv_norm_relu({.inputs = shape.twice, .outputs = shape.twice, .stride = stride}));
  auto pooled = std::make_shared<Chain>();
  pooled->then(pool_of(shape, stride));
  if (!halves)
    pooled->add("conv",
                conv_norm_relu({.inputs = shape.inputs, .outputs = shape.pooled, .kernel = 1}));
  fork->add("triple", triple).add("twice", twice).add("pool", pooled);
  return fork;
}

}  // namespace

std::shared_ptr<Network> bn_inception(const Workshop& workshop) {
  need_side("bn-inception", workshop, 64);
  const Chain::Step pool = max_pool_over_border({.kernel = 3, .stride = 2});
  auto features = std::make_shared<Chain>();
  features
      ->add("conv1",
            conv_norm_relu(
                {.inputs = workshop.input.channels, .outputs = 64, .kernel = 7, .stride = 2}))
      .then(pool)
      .add("conv2_reduce", conv_norm_relu({.inputs = 64, .outputs = 64, .kernel = 1}))
      .add("conv2", conv_norm_relu({.inputs = 64, .outputs = 192}))
      .then(pool);
  for (const ModuleShape& shape : kModules) features->add(shape.name, inception(shape));
  features->then(global_mean);
  return std::make_shared<Network>(features, one_linear(workshop, 1024));
}

}  // namespace narrowcast
