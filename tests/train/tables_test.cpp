#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <torch/csrc/profiler/util.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "predict/models.hpp"
#include "run/run.hpp"
#include "train/networks/layers.hpp"
#include "train/networks/network.hpp"

// The tables that predictions are made from are those of the networks that are trained.
namespace narrowcast::test {
namespace {

using NamedSizes = std::vector<std::pair<std::string, std::size_t>>;
using Sides = std::pair<std::size_t, std::size_t>;
using NamedSides = std::vector<std::pair<std::string, Sides>>;

NamedSizes tensors_of(const Model& model) {
  NamedSizes sizes;
  for (const ModelLayer& layer : model.layers)
    for (const ModelTensor& tensor : layer.tensors)
      sizes.emplace_back(tensor.name, tensor.elements);
  return sizes;
}

NamedSizes tensors_of(const torch::nn::Module& module) {
  NamedSizes sizes;
  for (const auto& item : module.named_parameters())
    sizes.emplace_back(item.key(), static_cast<std::size_t>(item.value().numel()));
  return sizes;
}

NamedSides fully_connected_of(const Model& model) {
  NamedSides layers;
  for (const ModelLayer& layer : model.layers)
    if (layer.outputs > 0) layers.emplace_back(layer.name, Sides{layer.inputs, layer.outputs});
  return layers;
}

// Torch counts no normalisation.
double product_flops(const Model& model) {
  double sum = 0;
  for (const ModelLayer& layer : model.layers)
    if (!layer.name.ends_with(".norm")) sum += layer.forward_flops;
  return sum;
}

// Of convolutions and matrix products on this thread, as torch's profiler counts them.
class TorchFlops {
 public:
  TorchFlops()
      : callback_(
            at::addThreadLocalCallback(at::RecordFunctionCallback(&count).needsInputs(true).scopes(
                {at::RecordScope::FUNCTION}))) {
    counted = 0;
  }
  ~TorchFlops() { at::removeCallback(callback_); }
  TorchFlops(const TorchFlops&) = delete;
  TorchFlops& operator=(const TorchFlops&) = delete;
  static double so_far() { return counted; }

 private:
  static std::unique_ptr<at::ObserverContext> count(const at::RecordFunction& function) {
    const std::string name = function.name();
    if (std::ranges::find(kProducts, name) != std::end(kProducts))
      counted += static_cast<double>(torch::profiler::impl::computeFlops(
          name, torch::profiler::impl::saveExtraArgs(function)));
    return nullptr;
  }

  static constexpr std::string_view kProducts[] = {"aten::conv2d", "aten::mm", "aten::addmm",
                                                   "aten::bmm", "aten::baddbmm"};
  static thread_local double counted;  // a callback is a plain function
  at::CallbackHandle callback_;
};
thread_local double TorchFlops::counted = 0;

std::vector<std::string> trained_names() {
  std::vector<std::string> names;
  for (const NetworkRow& row : networks()) names.emplace_back(row.name);
  return names;
}

// One at a time: together they would take a gigabyte and a half.
class EveryTable : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    at::set_num_threads(1);  // others test beside us
    auto& [channels, height, width] = workshop.input;
    const std::string shape(network_row(GetParam()).shape);
    ASSERT_EQ(std::sscanf(shape.c_str(), "%dx%dx%d", &channels, &height, &width), 3) << shape;
  }

  Workshop workshop = {.classes = network_row(GetParam()).classes};
  Model table = make_model(GetParam());
};
INSTANTIATE_TEST_SUITE_P(OfATrainedNetwork, EveryTable, testing::ValuesIn(trained_names()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(EveryTable, HasTheTensorsAndFullyConnectedLayersOfTheNetworkInTheirOrder) {
  NamedSides wishes;
  workshop.linear = [&](const Workshop::LinearWish& wish) {
    wishes.emplace_back("classifier." + std::string(wish.name), Sides{wish.inputs, wish.outputs});
    return whole_linear(wish);
  };
  const auto network = make_network(GetParam(), workshop);
  EXPECT_THAT(tensors_of(table), testing::ElementsAreArray(tensors_of(*network)));
  EXPECT_EQ(fully_connected_of(table), wishes);
}

TEST_P(EveryTable, ComputesAsMuchAsTorchCounts) {
  const torch::NoGradGuard no_grad;
  const auto network = make_network(GetParam(), workshop);
  network->eval();
  const auto& [channels, height, width] = workshop.input;
  const auto image = torch::zeros({1, channels, height, width});
  const TorchFlops flops;
  network->forward(image);
  EXPECT_EQ(product_flops(table), TorchFlops::so_far());
}

}  // namespace
}  // namespace narrowcast::test
