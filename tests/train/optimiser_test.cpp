#include "train/loop/optimiser.hpp"

#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace narrowcast::test {
namespace {

constexpr int kSteps = 20;
constexpr double kRate = 0.01;

// Odd sizes, so that no loop ends at a multiple of anything.
std::vector<torch::Tensor> fresh_parameters() {
  torch::manual_seed(11);
  std::vector<torch::Tensor> parameters = {torch::randn({13, 7}), torch::randn({37}),
                                           torch::randn({3, 5, 3, 3}), torch::randn({1})};
  for (auto& parameter : parameters) parameter.set_requires_grad(true);
  return parameters;
}

NamedParameters named(const std::vector<torch::Tensor>& parameters) {
  NamedParameters with_names;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    with_names.emplace_back("p" + std::to_string(i), parameters[i]);
  return with_names;
}

void put_gradients(const std::vector<torch::Tensor>& parameters, int step) {
  torch::manual_seed(static_cast<std::uint64_t>(100 + step));
  for (const auto& parameter : parameters)
    parameter.mutable_grad() = torch::randn(parameter.sizes()) * 0.5;
}

// Each step may round a few values of the size of a weight.
void expect_equal_but_for_rounding(const torch::Tensor& ours, const torch::Tensor& theirs) {
  const double size = theirs.abs().max().item<double>();
  const double bound = kSteps * 4 * std::ldexp(1.0, -24) * std::max(1.0, size);
  EXPECT_LE((ours - theirs).abs().max().item<double>(), bound);
}

std::unique_ptr<torch::optim::Optimizer> torch_sgd(std::vector<torch::Tensor> parameters,
                                                   const Optimiser& like) {
  return std::make_unique<torch::optim::SGD>(std::move(parameters),
                                             torch::optim::SGDOptions(kRate)
                                                 .momentum(like.momentum)
                                                 .nesterov(like.nesterov)
                                                 .weight_decay(like.weight_decay));
}

std::unique_ptr<torch::optim::Optimizer> torch_rmsprop(std::vector<torch::Tensor> parameters,
                                                       const Optimiser& like) {
  return std::make_unique<torch::optim::RMSprop>(std::move(parameters),
                                                 torch::optim::RMSpropOptions(kRate)
                                                     .alpha(like.decay)
                                                     .eps(like.epsilon)
                                                     .momentum(like.momentum)
                                                     .weight_decay(like.weight_decay));
}

std::unique_ptr<torch::optim::Optimizer> torch_adam(std::vector<torch::Tensor> parameters,
                                                    const Optimiser& like) {
  return std::make_unique<torch::optim::Adam>(std::move(parameters),
                                              torch::optim::AdamOptions(kRate)
                                                  .betas(std::make_tuple(like.decay, like.decay2))
                                                  .eps(like.epsilon)
                                                  .weight_decay(like.weight_decay));
}

using MakeTorch = std::unique_ptr<torch::optim::Optimizer> (*)(std::vector<torch::Tensor>,
                                                               const Optimiser&);
struct Pair {
  const char* title;
  Optimiser optimiser;
  MakeTorch torch;
};

void PrintTo(const Pair& pair, std::ostream* out) { *out << pair.title; }

class EveryOptimiser : public testing::TestWithParam<Pair> {};
INSTANTIATE_TEST_SUITE_P(
    OfTorch, EveryOptimiser,
    testing::Values(
        Pair{"Sgd", {.name = "sgd"}, torch_sgd},
        Pair{"SgdWithWeightDecay", {.name = "sgd", .weight_decay = 0.01}, torch_sgd},
        Pair{"SgdWithMomentum", {.name = "sgd", .momentum = 0.9, .weight_decay = 0.01}, torch_sgd},
        Pair{"SgdWithNesterov",
             {.name = "sgd", .momentum = 0.9, .nesterov = true, .weight_decay = 0.01},
             torch_sgd},
        Pair{"RmsProp", {.name = "rmsprop"}, torch_rmsprop},
        Pair{"RmsPropWithMomentum",
             {.name = "rmsprop", .momentum = 0.5, .decay = 0.99, .weight_decay = 0.01},
             torch_rmsprop},
        Pair{"Adam", {.name = "adam"}, torch_adam},
        Pair{"AdamWithWeightDecay",
             {.name = "adam", .decay = 0.8, .decay2 = 0.99, .epsilon = 1e-6, .weight_decay = 0.01},
             torch_adam}),
    [](const auto& test) { return test.param.title; });

TEST_P(EveryOptimiser, StepsAsTorchDoes) {
  const auto ours = fresh_parameters();
  const auto theirs = fresh_parameters();
  const auto stepper = make_stepper(GetParam().optimiser, named(ours));
  const auto oracle = GetParam().torch(theirs, GetParam().optimiser);
  for (int step = 0; step < kSteps; ++step) {
    put_gradients(ours, step);
    put_gradients(theirs, step);
    stepper->step(kRate);
    oracle->step();
    for (std::size_t i = 0; i < ours.size(); ++i) expect_equal_but_for_rounding(ours[i], theirs[i]);
  }
  EXPECT_EQ(stepper->steps, kSteps);
}

TEST_P(EveryOptimiser, GoesOnFromItsState) {
  const auto parameters = fresh_parameters();
  const auto stepper = make_stepper(GetParam().optimiser, named(parameters));
  for (int step = 0; step < 3; ++step) {
    put_gradients(parameters, step);
    stepper->step(kRate);
  }

  auto copies = fresh_parameters();
  const auto resumed = make_stepper(GetParam().optimiser, named(copies));
  {
    const torch::NoGradGuard no_grad;
    for (std::size_t i = 0; i < copies.size(); ++i) copies[i].copy_(parameters[i]);
    const auto saved = stepper->state();
    const auto state = resumed->state();
    ASSERT_EQ(saved.size(), state.size());
    for (std::size_t i = 0; i < state.size(); ++i) {
      EXPECT_EQ(state[i].first, saved[i].first);
      state[i].second.copy_(saved[i].second);
    }
    resumed->steps = stepper->steps;
  }
  for (int step = 3; step < 6; ++step) {
    put_gradients(parameters, step);
    put_gradients(copies, step);
    stepper->step(kRate);
    resumed->step(kRate);
  }
  for (std::size_t i = 0; i < copies.size(); ++i)
    EXPECT_TRUE(torch::equal(copies[i], parameters[i])) << i;
}

TEST_P(EveryOptimiser, LeavesParametersWithoutAGradient) {
  const auto parameters = fresh_parameters();
  const auto before = fresh_parameters();
  const auto stepper = make_stepper(GetParam().optimiser, named(parameters));
  put_gradients(parameters, 0);
  parameters[1].mutable_grad() = torch::Tensor();
  stepper->step(kRate);
  EXPECT_TRUE(torch::equal(parameters[1], before[1]));
  EXPECT_FALSE(torch::equal(parameters[0], before[0]));
}

// LARS as its paper has it, in double.
struct DoubleLars {
  std::vector<torch::Tensor> weights;
  std::vector<torch::Tensor> moves;

  explicit DoubleLars(const std::vector<torch::Tensor>& parameters) {
    for (const auto& parameter : parameters) {
      weights.push_back(parameter.detach().to(torch::kDouble, false, true));
      moves.push_back(torch::zeros_like(weights.back()));
    }
  }

  void step(const std::vector<torch::Tensor>& gradients, const Optimiser& with) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      auto& w = weights[i];
      const auto g = gradients[i].grad().to(torch::kDouble);
      double rate = kRate;
      auto slope = g;
      if (w.dim() > 1) {
        const double size = w.norm().item<double>();
        rate *=
            with.trust * size / (g.norm().item<double>() + with.weight_decay * size + with.epsilon);
        slope = g + with.weight_decay * w;
      }
      moves[i] = with.momentum * moves[i] + rate * slope;
      w = w - (with.nesterov ? rate * slope + with.momentum * moves[i] : moves[i]);
    }
  }
};

TEST(Lars, StepsAsItsPaperSays) {
  for (const bool nesterov : {false, true}) {
    const Optimiser optimiser = {
        .name = "lars", .momentum = 0.9, .nesterov = nesterov, .weight_decay = 1e-3, .trust = 0.02};
    const auto ours = fresh_parameters();
    DoubleLars oracle(ours);
    const auto stepper = make_stepper(optimiser, named(ours));
    for (int step = 0; step < kSteps; ++step) {
      put_gradients(ours, step);
      oracle.step(ours, optimiser);
      stepper->step(kRate);
      for (std::size_t i = 0; i < ours.size(); ++i)
        expect_equal_but_for_rounding(ours[i], oracle.weights[i]);
    }
  }
}

TEST(Lars, MovesATensorByTheSameShareWhateverItsGradientsSize) {
  const Optimiser optimiser = {.name = "lars", .trust = 0.02};
  std::vector<double> moved;
  for (const float scale : {1e-3f, 1e3f}) {
    const std::vector<torch::Tensor> one = {torch::ones({10, 10}).set_requires_grad(true)};
    one[0].mutable_grad() = torch::full({10, 10}, scale);
    make_stepper(optimiser, named(one))->step(1);
    moved.push_back(1 - one[0].mean().item<double>());
  }
  EXPECT_NEAR(moved[0], optimiser.trust, 1e-5);
  EXPECT_NEAR(moved[1], optimiser.trust, 1e-5);
}

TEST(Lars, LetsATensorOfZerosGo) {
  const std::vector<torch::Tensor> zeros = {torch::zeros({4, 4}).set_requires_grad(true)};
  zeros[0].mutable_grad() = torch::ones({4, 4});
  make_stepper({.name = "lars"}, named(zeros))->step(0.5);
  EXPECT_TRUE((zeros[0] == -0.5).all().item<bool>());
}

TEST(Stepper, NamesItsStateByParameter) {
  const auto parameters = fresh_parameters();
  std::vector<std::string> names;
  for (const auto& [name, tensor] : make_stepper({.name = "adam"}, named(parameters))->state())
    names.push_back(name);
  EXPECT_THAT(names, testing::ElementsAre("mean/p0", "square/p0", "mean/p1", "square/p1", "mean/p2",
                                          "square/p2", "mean/p3", "square/p3"));
  EXPECT_TRUE(make_stepper({.name = "sgd"}, named(parameters))->state().empty());
}

TEST(Stepper, TakesGradientsOfAnyLayout) {
  const auto parameters = fresh_parameters();
  const auto twins = fresh_parameters();
  parameters[0].mutable_grad() = torch::arange(91, torch::kFloat).reshape({7, 13}).t();
  twins[0].mutable_grad() = parameters[0].grad().contiguous();
  for (const auto& set : {parameters, twins})
    make_stepper({.name = "sgd"}, named(set))->step(kRate);
  EXPECT_TRUE(torch::equal(parameters[0], twins[0]));
}

TEST(Stepper, RefusesWhatItCannotDo) {
  const auto parameters = fresh_parameters();
  const auto refused = [&](const Optimiser& optimiser, const NamedParameters& of) -> std::string {
    try {
      make_stepper(optimiser, of);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage);
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refused({.name = "sgdd"}, named(parameters)), testing::HasSubstr("rmsprop, adam"));
  EXPECT_THAT(refused({.name = "adam", .momentum = 0.9}, named(parameters)),
              "adam has no momentum");
  EXPECT_THAT(refused({.name = "rmsprop", .momentum = 0.9, .nesterov = true}, named(parameters)),
              "rmsprop has no nesterov");
  EXPECT_THAT(refused({.name = "sgd", .nesterov = true}, named(parameters)),
              "nesterov needs momentum");
  EXPECT_THAT(refused({}, {{"turned", torch::ones({3, 4}).t()}}), testing::HasSubstr("turned"));
  EXPECT_THAT(refused({}, {{"long", torch::ones({3}, torch::kLong)}}), testing::HasSubstr("long"));
}

}  // namespace
}  // namespace narrowcast::test
