#include <gmock/gmock.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>

#include "base/error.hpp"
#include "run/run.hpp"
#include "train/networks/layers.hpp"
#include "train/networks/mask.hpp"
#include "train/networks/network.hpp"

namespace narrowcast::test {
namespace {

ImageShape shape_of(const NetworkRow& row) {
  ImageShape shape;
  const std::string text(row.shape);
  EXPECT_EQ(std::sscanf(text.c_str(), "%dx%dx%d", &shape.channels, &shape.height, &shape.width), 3)
      << text;
  return shape;
}

Workshop workshop_of(const NetworkRow& row) {
  return {.input = shape_of(row), .classes = row.classes};
}

torch::Tensor images_for(const Workshop& workshop, std::int64_t batch) {
  return torch::randn(
      {batch, workshop.input.channels, workshop.input.height, workshop.input.width});
}

// Two images, no larger than they need be: networks for large ones take any size, once made, and
// recurrent ones any number of rows.
torch::Tensor small_images_for(const NetworkRow& row) {
  Workshop workshop = workshop_of(row);
  auto& [channels, height, width] = workshop.input;
  height = std::min(height, 64);
  if (channels == 3) width = std::min(width, 64);
  return images_for(workshop, 2);
}

std::int64_t parameters_of(const torch::nn::Module& module) {
  std::int64_t count = 0;
  for (const auto& parameter : module.parameters()) count += parameter.numel();
  return count;
}

std::vector<std::string> parameter_names(const torch::nn::Module& module) {
  std::vector<std::string> names;
  for (const auto& item : module.named_parameters()) names.push_back(item.key());
  return names;
}

std::vector<std::string> names_of_rows() {
  std::vector<std::string> names;
  for (const NetworkRow& row : networks()) names.emplace_back(row.name);
  return names;
}

// One at a time: together they would take two gigabytes.
class EveryNetwork : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { at::set_num_threads(1); }  // others test beside us

  const NetworkRow& row = network_row(GetParam());
  Workshop workshop = workshop_of(row);
};
INSTANTIATE_TEST_SUITE_P(InTheList, EveryNetwork, testing::ValuesIn(names_of_rows()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Networks, AreThoseOfTheList) {
  std::vector<std::string> built;
  for (const std::string_view name : network_builders()) built.emplace_back(name);
  EXPECT_THAT(built, testing::UnorderedElementsAreArray(names_of_rows()));
}

TEST_P(EveryNetwork, HasTheParametersOfTheListAndLearnsWithAllOfThem) {
  torch::manual_seed(1);
  const auto network = make_network(row.name, workshop);
  EXPECT_EQ(parameters_of(*network), static_cast<std::int64_t>(row.parameters));

  const auto scores = network->forward(small_images_for(row));
  EXPECT_EQ(scores.sizes(), (at::IntArrayRef{2, row.classes}));
  EXPECT_TRUE(scores.isfinite().all().item<bool>());
  torch::nn::functional::cross_entropy(scores, torch::tensor({0, 1}, torch::kLong)).backward();
  for (const auto& item : network->named_parameters()) {
    ASSERT_TRUE(item.value().grad().defined()) << item.key();
    EXPECT_GT(item.value().grad().abs().max().item<float>(), 0) << item.key();
    EXPECT_TRUE(item.value().is_contiguous()) << item.key();
  }
}

bool is_large(const NetworkRow& row) { return row.parameters > 20'000'000; }

TEST_P(EveryNetwork, IsTheSameForTheSameSeed) {
  if (is_large(row)) GTEST_SKIP() << "made of the same parts as the smaller ones";
  torch::manual_seed(7);
  const auto network = make_network(row.name, workshop);
  torch::manual_seed(7);
  const auto again = make_network(row.name, workshop);
  torch::manual_seed(8);
  const auto other = make_network(row.name, workshop);
  const auto others = other->named_parameters();
  const auto same = again->named_parameters();
  bool differs = false;
  for (const auto& item : network->named_parameters()) {
    EXPECT_TRUE(torch::equal(item.value(), same[item.key()])) << item.key();
    differs = differs || !torch::equal(item.value(), others[item.key()]);
  }
  EXPECT_TRUE(differs);
}

TEST_P(EveryNetwork, GivesAMatrixFromItsFeatures) {
  if (is_large(row)) GTEST_SKIP() << "made of the same parts as the smaller ones";
  const torch::NoGradGuard no_grad;
  const auto network = make_network(row.name, workshop);
  network->eval();
  const auto images = small_images_for(row);
  const auto between = network->features().forward(images);
  EXPECT_EQ(between.dim(), 2);
  EXPECT_EQ(between.size(0), 2);
  EXPECT_TRUE(torch::equal(network->classifier().forward(between), network->forward(images)));
}

TEST(Networks, WithoutANameAreRefusedWithThoseThatExist) {
  try {
    make_network("resnet51", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("resnet50"));
  }
}

TEST(Networks, TakeImagesOfOtherSizes) {
  struct Fit {
    const char* name;
    ImageShape input;
  };
  const torch::NoGradGuard no_grad;
  for (const auto& [name, input] :
       {Fit{"mnist-mlp", {3, 32, 32}}, Fit{"cifar-conv", {1, 28, 28}},
        Fit{"cifar-conv", {3, 32, 32}}, Fit{"cifar-conv", {3, 27, 9}}, Fit{"resnet20", {1, 28, 28}},
        Fit{"resnet18", {1, 28, 28}}, Fit{"davidnet", {1, 28, 28}}, Fit{"lstm", {3, 32, 32}},
        Fit{"bn-inception", {3, 64, 64}}, Fit{"resnet50", {3, 64, 96}}}) {
    const Workshop workshop = {.input = input, .classes = 7};
    const auto network = make_network(name, workshop);
    EXPECT_EQ(network->forward(images_for(workshop, 2)).sizes(), (at::IntArrayRef{2, 7})) << name;
  }
}

TEST(Networks, SayWhichImagesAreTooSmall) {
  for (const char* name : {"cifar-conv", "resnet20", "resnet110", "resnet18", "davidnet", "alexnet",
                           "vgg19", "resnet50", "resnet152", "bn-inception", "fcn"}) {
    try {
      make_network(name, {.input = {3, 7, 300}});
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage) << name;
      EXPECT_THAT(error.what(), testing::HasSubstr(name));
      EXPECT_THAT(error.what(), testing::HasSubstr("not 7x300"));
    }
  }
}

TEST(Networks, NameTheirParametersByLayer) {
  EXPECT_THAT(
      parameter_names(*make_network("mnist-mlp", {.input = {1, 28, 28}})),
      testing::ElementsAre("classifier.fc1.weight", "classifier.fc1.bias", "classifier.fc2.weight",
                           "classifier.fc2.bias", "classifier.fc3.weight", "classifier.fc3.bias"));
  EXPECT_THAT(parameter_names(*make_network("cifar-conv", {.input = {3, 24, 24}})),
              testing::IsSupersetOf({"features.conv1.weight", "features.local3.weight",
                                     "features.local4.bias", "classifier.fc.weight"}));
  EXPECT_THAT(parameter_names(*make_network("resnet20", {.input = {3, 32, 32}})),
              testing::IsSupersetOf({"features.stem.conv.weight",
                                     "features.stage3_block1.residual.conv2.norm.bias"}));
}

TEST(Networks, TakeTheirFullyConnectedLayersFromTheWorkshop) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> wishes;
  Workshop workshop = {.input = {1, 28, 28}};
  workshop.linear = [&](const Workshop::LinearWish& wish) {
    wishes[std::string(wish.name)] = {wish.inputs, wish.outputs};
    return whole_linear(wish);
  };
  torch::manual_seed(3);
  const auto made = make_network("mnist-mlp", workshop);
  using Size = std::pair<std::int64_t, std::int64_t>;
  EXPECT_THAT(wishes, testing::ElementsAre(testing::Pair("fc1", Size{784, 1024}),
                                           testing::Pair("fc2", Size{1024, 1024}),
                                           testing::Pair("fc3", Size{1024, 10})));
  torch::manual_seed(3);
  const torch::nn::Linear first(784, 1024);
  EXPECT_TRUE(torch::equal(made->named_parameters()["classifier.fc1.weight"], first->weight));
}

// Of variance 2 / fan-in, which keeps the size of activations through any number of layers.
TEST(Networks, StartAsHeSays) {
  torch::manual_seed(1);
  const auto weight = conv({.inputs = 64, .outputs = 48, .kernel = 5})->weight.to(torch::kDouble);
  const auto n = static_cast<double>(weight.numel());
  const double variance = 2.0 / (64 * 5 * 5);
  EXPECT_NEAR(weight.pow(2).mean().item<double>(), variance, 5 * variance * std::sqrt(2 / n));
  EXPECT_NEAR(weight.mean().item<double>(), 0, 5 * std::sqrt(variance / n));
}

TEST(LocallyConnected, IsAConvolutionWhereAllPlacesHaveTheSameWeights) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(2);
  LocallyConnected local({.inputs = 3, .outputs = 5, .kernel = 3, .height = 6, .width = 4});
  const auto kernel = torch::randn({5, 3, 3, 3});
  const auto bias = torch::randn({5});
  local.named_parameters()["weight"].copy_(kernel.reshape({5, 27}).t().expand({24, 27, 5}));
  local.named_parameters()["bias"].copy_(bias.expand({24, 5}));
  const auto x = torch::randn({2, 3, 6, 4});
  EXPECT_TRUE(torch::allclose(local.forward(x), torch::conv2d(x, kernel, bias, 1, 1), 1e-5, 1e-5));
}

TEST(LocallyConnected, HasWeightsOfItsOwnAtEveryPlace) {
  const torch::NoGradGuard no_grad;
  LocallyConnected local({.inputs = 2, .outputs = 3, .kernel = 3, .height = 4, .width = 5});
  const auto x = torch::randn({1, 2, 4, 5});
  const auto before = local.forward(x);
  local.named_parameters()["weight"][7].zero_();  // row 1, column 2
  local.named_parameters()["bias"][7].fill_(9);
  const auto changed = local.forward(x);
  EXPECT_TRUE((changed.select(2, 1).select(2, 2) == 9).all().item<bool>());
  EXPECT_EQ((changed != before).sum().item<std::int64_t>(), 3);
}

class TheDropout : public testing::Test {
 protected:
  Dice dice{.seed = 1, .step = 5, .rank = 2};
  torch::Tensor ones = torch::ones({128, 1024});
};

TEST_F(TheDropout, KeepsTheMeanAndDropsItsShare) {
  Dropout dropout(0.3, dice, 0);
  const auto dropped = dropout.forward(ones);
  const double n = static_cast<double>(ones.numel());
  const double share = (dropped == 0).sum().item<double>() / n;
  const double five_deviations = 5 * std::sqrt(0.3 * 0.7 / n);
  EXPECT_NEAR(share, 0.3, five_deviations);
  EXPECT_NEAR(dropped.mean().item<double>(), 1, five_deviations / 0.7);
  EXPECT_EQ(std::get<0>(torch::_unique(dropped)).numel(), 2);
}

TEST_F(TheDropout, RepeatsItselfForTheSameDiceOnly) {
  Dropout dropout(0.5, dice, 0);
  Dropout next_layer(0.5, dice, 1);
  const auto first = dropout.forward(ones);
  EXPECT_TRUE(torch::equal(dropout.forward(ones), first));
  // Half of the places agree by chance.
  const auto n = static_cast<double>(ones.numel());
  const auto agreeing = [&](const torch::Tensor& other) {
    return (other == first).sum().item<double>() / n;
  };
  const double five_deviations = 5 * 0.5 / std::sqrt(n);
  EXPECT_NEAR(agreeing(next_layer.forward(ones)), 0.5, five_deviations);
  dice.step += 1;
  EXPECT_NEAR(agreeing(dropout.forward(ones)), 0.5, five_deviations);
  dice.step -= 1;
  dice.rank += 1;
  EXPECT_NEAR(agreeing(dropout.forward(ones)), 0.5, five_deviations);
  dice.rank -= 1;
  dice.hop += 1;
  EXPECT_NEAR(agreeing(dropout.forward(ones)), 0.5, five_deviations);
}

TEST_F(TheDropout, DropsGradientsWhereItDroppedValues) {
  Dropout dropout(0.2, dice, 0);
  ones.set_requires_grad(true);
  const auto dropped = dropout.forward(ones);
  dropped.sum().backward();
  EXPECT_TRUE(torch::equal(ones.grad(), dropped));
}

TEST_F(TheDropout, IsOffInEvaluation) {
  Dropout dropout(0.5, dice, 0);
  dropout.eval();
  EXPECT_TRUE(torch::equal(dropout.forward(ones), ones));
}

TEST_F(TheDropout, IsOnlyInNetworksWithDice) {
  Workshop workshop = {.input = {1, 28, 28}};
  const auto x = torch::randn({4, 1, 28, 28});
  const auto without = make_network("mnist-mlp", workshop);
  EXPECT_TRUE(torch::equal(without->forward(x), without->forward(x)));
  workshop.dice = &dice;
  const auto with = make_network("mnist-mlp", workshop);
  const auto first = with->forward(x);
  EXPECT_TRUE(torch::equal(with->forward(x), first));
  dice.step += 1;
  EXPECT_FALSE(torch::equal(with->forward(x), first));
  EXPECT_EQ(parameter_names(*with), parameter_names(*without));
}

TEST(Mask, IsAFunctionOfTheStreamAndTheIndex) {
  const Stream stream = {.key = 3, .salt = 4};
  std::vector<float> whole(1000);
  fill_mask(whole, 0.5, stream);
  for (const std::size_t size : {1, 31, 32, 33, 127, 999}) {
    std::vector<float> part(size);
    fill_mask(part, 0.5, stream);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin())) << size;
  }
}

TEST(Mask, OfNothingDroppedIsOnes) {
  std::vector<float> mask(100);
  fill_mask(mask, 0, {.key = 1, .salt = 2});
  EXPECT_THAT(mask, testing::Each(1.0f));
}

}  // namespace
}  // namespace narrowcast::test
