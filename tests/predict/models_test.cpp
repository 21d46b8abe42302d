#include "predict/models.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace narrowcast::test {
namespace {

std::vector<std::string> names_of_rows() {
  std::vector<std::string> names;
  for (const ModelRow& row : models()) names.emplace_back(row.name);
  return names;
}

double forward_flops(const Model& model) {
  double sum = 0;
  for (const ModelLayer& layer : model.layers) sum += layer.forward_flops;
  return sum;
}

const ModelLayer& layer_of(const Model& model, std::string_view name) {
  const auto found = std::ranges::find(model.layers, name, &ModelLayer::name);
  if (found == model.layers.end()) throw std::logic_error("no layer " + std::string(name));
  return *found;
}

class EveryModel : public testing::TestWithParam<std::string> {
 protected:
  const ModelRow& row = *std::ranges::find(models(), GetParam(), &ModelRow::name);
  Model model = make_model(GetParam());
};
INSTANTIATE_TEST_SUITE_P(InTheList, EveryModel, testing::ValuesIn(names_of_rows()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(EveryModel, HasItsPublishedNumberOfParameters) {
  EXPECT_EQ(model.name, row.name);
  EXPECT_FALSE(row.summary.empty());
  EXPECT_EQ(model.parameters(), row.parameters);
}

TEST_P(EveryModel, HasANameOfItsOwnForEveryLayerAndTensor) {
  EXPECT_FALSE(model.layers.empty());
  std::set<std::string> layers;
  std::set<std::string> tensors;
  for (const ModelLayer& layer : model.layers) {
    EXPECT_TRUE(layers.insert(layer.name).second) << layer.name;
    EXPECT_FALSE(layer.tensors.empty()) << layer.name;
    for (const ModelTensor& tensor : layer.tensors) {
      EXPECT_TRUE(tensors.insert(tensor.name).second) << tensor.name;
      EXPECT_GT(tensor.elements, 0u) << tensor.name;
    }
  }
}

// Back-propagation makes the gradients of weights and of inputs, each of which costs as much as the
// forward pass; of the first layer's input nobody needs one.
TEST_P(EveryModel, WorksTwiceAsHardBackwardsButInItsFirstLayer) {
  double sum = 0;
  for (const ModelLayer& layer : model.layers) {
    EXPECT_GT(layer.forward_flops, 0) << layer.name;
    if (&layer != &model.layers.front()) {
      EXPECT_EQ(layer.backward_flops, 2 * layer.forward_flops) << layer.name;
    }
    sum += layer.forward_flops + layer.backward_flops;
  }
  const ModelLayer& first = model.layers.front();
  EXPECT_GE(first.backward_flops, first.forward_flops);
  EXPECT_LE(first.backward_flops, 2 * first.forward_flops);
  EXPECT_EQ(model.flops(), sum);
}

TEST_P(EveryModel, KnowsTheSidesOfItsFullyConnectedLayers) {
  for (const ModelLayer& layer : model.layers) {
    EXPECT_EQ(layer.inputs == 0, layer.outputs == 0) << layer.name;
    if (layer.inputs == 0) continue;
    ASSERT_EQ(layer.tensors.size(), 2u) << layer.name;
    EXPECT_EQ(layer.tensors[0].elements, layer.inputs * layer.outputs) << layer.name;
    EXPECT_EQ(layer.tensors[1].elements, layer.outputs) << layer.name;
    EXPECT_EQ(layer.forward_flops, 2.0 * static_cast<double>(layer.inputs * layer.outputs));
  }
}

// Others leave normalisation out, or have it at another cost: a per cent or so; and they round.
TEST(Models, ComputeAsMuchAsPublished) {
  struct Published {
    const char* name;
    double multiply_adds;
  };
  for (const auto& [name, multiply_adds] :
       {Published{"resnet20", 40.8e6}, Published{"resnet110", 253e6}, Published{"resnet18", 556e6},
        Published{"vgg19", 19.63e9}, Published{"resnet50", 4.09e9}, Published{"resnet152", 11.51e9},
        Published{"bn-inception", 2.0e9}, Published{"gpt2", 291.648e9 / 2}}) {
    const double computed = forward_flops(make_model(name)) / 2;
    EXPECT_NEAR(computed / multiply_adds, 1, 0.03) << name << ": " << computed;
  }
}

// Published with two groups in three of its convolutions, which halve their work.
TEST(Models, ComputeAsMuchAsAlexNetWhenItsGroupsAreTakenAway) {
  const Model model = make_model("alexnet");
  double flops = forward_flops(model);
  for (const char* name : {"features.conv2", "features.conv4", "features.conv5"})
    flops -= layer_of(model, name).forward_flops / 2;
  EXPECT_NEAR(flops / 2 / 724e6, 1, 0.02);
  EXPECT_EQ(layer_of(model, "features.conv2").forward_flops, 2.0 * 27 * 27 * 256 * 96 * 5 * 5);
}

TEST(Models, NeedNoGradientOfTheImage) {
  for (const char* name : {"mnist-mlp", "cifar-conv", "alexnet", "resnet50"}) {
    const Model model = make_model(name);
    EXPECT_EQ(model.layers.front().backward_flops, model.layers.front().forward_flops) << name;
  }
}

TEST(Models, CountEveryStepOfASequence) {
  const Model model = make_model("lstm");
  const ModelLayer& cells = layer_of(model, "features.lstm.l0");
  const double of_input = 28 * 2.0 * 28 * 4 * 128;
  const double of_state = 28 * 2.0 * 128 * 4 * 128;
  EXPECT_EQ(cells.forward_flops, of_input + of_state);
  EXPECT_EQ(cells.backward_flops, of_input + 2 * of_state) << "the state needs a gradient";
  EXPECT_EQ(cells.launches, 28) << "each waits for the one before";
}

TEST(Models, HaveWeightsOfTheirOwnAtEveryPlaceWhereTheyAreLocal) {
  const Model model = make_model("cifar-conv");
  const ModelLayer& local = layer_of(model, "features.local4");
  EXPECT_EQ(local.tensors[0].elements, 36u * 64 * 9 * 32);
  EXPECT_EQ(local.forward_flops, 2.0 * 36 * 64 * 9 * 32);
  EXPECT_EQ(local.outputs, 0u);
}

TEST(Models, KeepTheSizeWhereTheyAreDilated) {
  const Model strided = make_model("resnet50");
  const Model dilated = make_model("fcn");
  const char* const last = "features.stage4_block3.residual.conv2.conv";
  EXPECT_EQ(layer_of(strided, last).forward_flops * 16, layer_of(dilated, last).forward_flops);
}

TEST(Models, HaveTheFullyConnectedLayersOfTheirPapers) {
  std::vector<std::size_t> sides;
  for (const ModelLayer& layer : make_model("d16-alexnet").layers) {
    if (layer.outputs == 0) continue;
    if (sides.empty()) sides.push_back(layer.inputs);
    sides.push_back(layer.outputs);
  }
  EXPECT_THAT(sides, testing::ElementsAre(9216, 3072, 3072, 1000));
}

TEST(Models, ShareTheWordsOfGpt2BetweenEmbeddingAndHead) {
  const Model model = make_model("gpt2");
  int tables = 0;
  for (const ModelLayer& layer : model.layers)
    for (const ModelTensor& tensor : layer.tensors)
      if (tensor.elements == std::size_t{50257} * 768) ++tables;
  EXPECT_EQ(tables, 1);
  EXPECT_GE(model.layers.back().forward_flops, 2.0 * 1024 * 50257 * 768);
}

TEST(Models, AreInTheListOnce) {
  const auto names = names_of_rows();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST(Models, WithoutATableAreRefusedWithThoseThatExist) {
  try {
    make_model("resnet51");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("resnet51"));
    for (const std::string& name : names_of_rows())
      EXPECT_THAT(error.what(), testing::HasSubstr(name));
  }
}

}  // namespace
}  // namespace narrowcast::test
