#include "train/split_linear.hpp"

#include <torch/torch.h>

#include "tests/support/check.hpp"
#include "tests/support/ranks.hpp"
#include "tests/train/small_modules.hpp"
#include "train/loop/splitting.hpp"

namespace narrowcast::test {
namespace {

constexpr std::uint32_t kChannel = 4;

struct Case {
  int ranks = 1;
  Split split = Split::output;
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  std::int64_t batch = 1;
};

// Even shares, ragged ones, and ranks that have nothing at all.
std::vector<Case> every_case() {
  std::vector<Case> cases;
  for (const Split split : {Split::output, Split::input})
    for (const int ranks : {1, 2, 3})
      for (const auto& [inputs, outputs] : {std::pair(12, 6), std::pair(7, 5), std::pair(2, 2)})
        for (const std::int64_t batch : {1, 9})
          cases.push_back({ranks, split, inputs, outputs, batch});
  return cases;
}

// What a layer computes: its output, and the gradients of input, weight and bias.
struct Answers {
  torch::Tensor output;
  torch::Tensor input;
  torch::Tensor weight;
  torch::Tensor bias;
};

template <class Layer>
Answers answers(Layer& layer, const Case& how) {
  const torch::Tensor input = numbers({how.batch, how.inputs}, 3).requires_grad_();
  const torch::Tensor output = layer->forward(input);
  output.backward(numbers({how.batch, how.outputs}, 4));
  return {output.detach(), input.grad(), layer->weight.grad(), layer->bias.grad()};
}

torch::nn::Linear whole_layer(const Case& how) {
  torch::nn::Linear layer(how.inputs, how.outputs);
  const torch::NoGradGuard no_grad;
  layer->weight.copy_(numbers({how.outputs, how.inputs}, 1));
  layer->bias.copy_(numbers({how.outputs}, 2));
  return layer;
}

SplitLinear split_layer(const Case& how, ActivationLink& link,
                        InputGradient input_gradient = InputGradient::summed) {
  SplitLinear layer(SplitLinearOptions{.inputs = how.inputs,
                                       .outputs = how.outputs,
                                       .split = how.split,
                                       .input_gradient = input_gradient,
                                       .layer = 1},
                    link);
  const torch::nn::Linear whole = whole_layer(how);
  layer->take_parts_of(whole->weight, whole->bias);
  return layer;
}

// As near as sums of a dozen float32 of this size are.
void expect_near(const torch::Tensor& actual, const torch::Tensor& expected, const char* what) {
  EXPECT_EQ(expected.sizes(), actual.sizes()) << what;
  EXPECT_TRUE(torch::allclose(actual, expected, 1e-5, 1e-5)) << what << actual << expected;
}

torch::Tensor own_part(const SplitLinear& layer, const torch::Tensor& whole, int dimension) {
  return whole.narrow(dimension, layer->first(), layer->count());
}

TEST(SplitLinear, ComputesWhatTheWholeLayerDoes) {
  at::set_num_threads(1);
  for (const Case& how : every_case()) {
    SCOPED_TRACE(testing::Message() << how.ranks << " ranks, " << how.inputs << " to "
                                    << how.outputs << ", split " << static_cast<int>(how.split));
    torch::nn::Linear whole = whole_layer(how);
    const Answers expected = answers(whole, how);
    on_ranks(how.ranks, [&](Transport& net) {
      ActivationLink link(net, kChannel, {}, {}, 7);
      SplitLinear layer = split_layer(how, link);
      const Answers actual = answers(layer, how);
      expect_near(actual.output, expected.output, "output");
      expect_near(actual.input, expected.input, "gradient of the input");
      const bool rows = how.split == Split::output;
      expect_near(actual.weight, own_part(layer, expected.weight, rows ? 0 : 1),
                  "gradient of the weight");
      expect_near(actual.bias, rows ? own_part(layer, expected.bias, 0) : expected.bias,
                  "gradient of the bias");
    });
  }
}

TEST(SplitLinear, LeavesPartsOfTheInputsGradientThatSumToTheWhole) {
  for (const Split split : {Split::output, Split::input}) {
    const Case how = {.ranks = 3, .split = split, .inputs = 7, .outputs = 5, .batch = 4};
    torch::nn::Linear whole = whole_layer(how);
    const Answers expected = answers(whole, how);
    std::vector<torch::Tensor> parts(how.ranks);
    on_ranks(how.ranks, [&](Transport& net) {
      ActivationLink link(net, kChannel, {}, {}, 7);
      SplitLinear layer = split_layer(how, link, InputGradient::partial);
      parts[net.rank()] = answers(layer, how).input;
    });
    expect_near(parts[0] + parts[1] + parts[2], expected.input, "sum of the parts");
  }
}

TEST(SplitLinear, GivesEveryRankTheSameBitsWhateverTheCodec) {
  for (const std::string codec : {"dynamic8", "qsgd:bits=4", "onebit:column=shape"})
    for (const Split split : {Split::output, Split::input}) {
      SCOPED_TRACE(codec);
      const Case how = {.ranks = 3, .split = split, .inputs = 70, .outputs = 50, .batch = 9};
      std::vector<Answers> all(how.ranks);
      on_ranks(how.ranks, [&](Transport& net) {
        ActivationLink link(net, kChannel, {.codec = codec}, {.codec = codec}, 7);
        SplitLinear layer = split_layer(how, link);
        all[net.rank()] = answers(layer, how);
      });
      torch::nn::Linear whole = whole_layer(how);
      const Answers exact = answers(whole, how);
      EXPECT_FALSE(torch::equal(exact.output, all[0].output)) << "nothing was rounded";
      EXPECT_FALSE(torch::equal(exact.input, all[0].input)) << "nothing was rounded";
      for (const Answers& each : all) {
        EXPECT_TRUE(torch::equal(each.output, all[0].output));
        EXPECT_TRUE(torch::equal(each.input, all[0].input));
        if (split == Split::input) {
          EXPECT_TRUE(torch::equal(each.bias, all[0].bias));
        }
      }
    }
}

TEST(SplitLinear, BeginsWithPartsOfTheLayerThatAWholeOneWouldBe) {
  torch::manual_seed(5);
  const torch::nn::Linear whole(7, 5);
  const torch::Tensor next = torch::rand({1});
  on_ranks(1, [&](Transport& net) {
    ActivationLink link(net, kChannel, {}, {}, 7);
    torch::manual_seed(5);
    const SplitLinear layer(SplitLinearOptions{.inputs = 7, .outputs = 5}, link);
    EXPECT_TRUE(torch::equal(whole->weight, layer->weight));
    EXPECT_TRUE(torch::equal(whole->bias, layer->bias));
    EXPECT_TRUE(torch::equal(next, torch::rand({1})));  // as many were drawn
  });
}

TEST(ActivationLink, ThrowsOtherDiceInEveryCallAndTheSameWhenAStepIsRepeated) {
  std::vector<std::vector<float>> calls;
  on_ranks(2, [&](Transport& net) {
    const Way coarse = {.codec = "qsgd:bits=2"};
    ActivationLink link(net, kChannel, coarse, coarse, 7);
    const auto call = [&](std::uint64_t layer) {
      std::vector<float> values(1000, 0.3F);
      values[0] = 1;
      link.sum_forward(values, {.layer = layer});
      if (net.rank() == 0) calls.push_back(values);
    };
    for (const std::uint64_t step : {1, 2, 1}) {
      link.set_step(step);
      for (int i = 0; i < 2; ++i) call(3);
    }
  });
  EXPECT_NE(calls[0], calls[1]);
  EXPECT_NE(calls[0], calls[2]);
  EXPECT_NE(calls[1], calls[2]);
  EXPECT_EQ(calls[0], calls[4]);
  EXPECT_EQ(calls[1], calls[5]);
}

TEST(ActivationLink, CountsWhatItSends) {
  on_ranks(2, [](Transport& net) {
    ActivationLink link(net, kChannel, {.codec = "bf16"}, {}, 7);
    std::vector<float> values(1000);
    const MutableFloats all = values;
    link.gather_forward({all.first(600), all.last(400)}, {});
    link.gather_backward({all.first(600), all.last(400)}, {});
    const ActivationLink::Costs costs = link.take_costs();
    const std::uint64_t mine = net.rank() == 0 ? 600 : 400;
    EXPECT_EQ(mine * 2, costs.bytes_by_codec.at("bf16"));
    EXPECT_EQ(mine * 4, costs.bytes_by_codec.at("fp32"));
    EXPECT_EQ(mine * 8, costs.fp32_bytes);
    EXPECT_GT(costs.wait_ms, 0);
    EXPECT_TRUE(link.take_costs().bytes_by_codec.empty());
  });
}

TEST(ActivationLink, RefusesWhatIsForGradients) {
  on_ranks(1, [](Transport& net) {
    const auto link = [&](const Way& activations, const Way& errors) {
      return fault_of([&] { ActivationLink(net, kChannel, activations, errors, 7); });
    };
    EXPECT_EQ(Fault::usage, link({.codec = "onebit", .feedback = Feedback::on}, {}));
    EXPECT_EQ(Fault::usage, link({}, {.codec = "float:e=4,m=3", .scaling = Scaling::aps}));
    EXPECT_EQ(Fault::usage, link({.codec = "nonesuch"}, {}));
  });
}

// Wherever a row or column lies, putting parts together and cutting them again changes nothing.
TEST(Splitting, PutsPartsTogetherAndCutsThemAgain) {
  on_ranks(3, [](Transport& net) {
    ActivationLink link(net, kChannel, {.codec = "onebit"}, {}, 7);
    for (const int dimension : {0, 1}) {
      const torch::Tensor whole = numbers({7, 5}, 1);
      const SplitLayers layers = {
          {"fc.weight",
           {dimension, {7, 5}, share_of(whole.size(dimension), net.rank(), net.size())}}};
      const torch::Tensor part = part_of(layers, "fc.weight", whole);
      EXPECT_TRUE(torch::equal(whole, whole_of(layers, "fc.weight", part, link)));
      EXPECT_EQ(whole.sizes(), whole_like(layers, "fc.weight", part).sizes());
    }
  });
}

}  // namespace
}  // namespace narrowcast::test
