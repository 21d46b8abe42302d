#include "train/data_parallel.hpp"

#include <torch/torch.h>

#include <cmath>

#include "tests/train/small_modules.hpp"

namespace narrowcast::test {
namespace {

TEST(DataParallel, StartsWithParametersAndBuffersOfRank0) {
  const auto states = on_each<Gradients>(3, [](Transport& net) {
    auto module = small_net();
    give_numbers(*module, 100 * net.rank());
    for (torch::Tensor& buffer : module->buffers()) buffer.fill_(net.rank() + 5);
    module->named_parameters()["0.bias"].set_requires_grad(false);
    Exchange exchange(net, {}, tensors_of(*module));
    const DataParallel dp(module.ptr(), exchange);
    Gradients state = module->parameters();
    for (const torch::Tensor& buffer : module->buffers()) state.push_back(buffer);
    return state;
  });
  auto expected = small_net();
  give_numbers(*expected, 0);
  for (const Gradients& state : states) {
    EXPECT_TRUE(same_bits(state, states[0]));
    EXPECT_TRUE(torch::equal(state[0], expected->parameters()[0]));
    EXPECT_EQ(5, state.back().item<std::int64_t>());  // batches that have been seen
  }
}

TEST(DataParallel, LeavesTheAverageOfAllRanksWithEqualBits) {
  for (const int ranks : {1, 2, 3}) {
    const auto averages = on_each<Gradients>(ranks, [](Transport& net) {
      auto module = plain_net();
      give_numbers(*module, 1);
      Exchange exchange(net, {}, tensors_of(*module));
      DataParallel dp(module.ptr(), exchange);
      loss_of(module, 10 + net.rank()).backward();
      dp.wait();
      return gradients(*module);
    });
    auto module = plain_net();
    give_numbers(*module, 1);
    torch::Tensor loss = loss_of(module, 10);
    for (int rank = 1; rank < ranks; ++rank) loss = loss + loss_of(module, 10 + rank);
    (loss / ranks).backward();
    for (const Gradients& average : averages) {
      EXPECT_TRUE(same_bits(average, averages[0]));
      for (std::size_t i = 0; i < average.size(); ++i)
        expect_near(average[i], module->parameters()[i].grad());
    }
  }
}

TEST(DataParallel, LeavesSumsWhereThePlanSaysSo) {
  Plan plan;
  plan.total = Total::sum;
  on_ranks(3, [&](Transport& net) {
    auto module = plain_net();
    Exchange exchange(net, plan, tensors_of(*module));
    DataParallel dp(module.ptr(), exchange);
    (module[2]->as<torch::nn::Linear>()->bias.sum() * (net.rank() + 1)).backward();
    dp.wait();
    EXPECT_TRUE(
        torch::equal(module[2]->as<torch::nn::Linear>()->bias.grad(), torch::full({3}, 6.0F)));
  });
}

TEST(DataParallel, LeavesTheSameBitsWhateverTheCodec) {
  for (const std::string codec : {"dynamic8", "qsgd:bits=4", "onebit"}) {
    SCOPED_TRACE(codec);
    const auto averages = on_each<Gradients>(2, [&](Transport& net) {
      auto module = small_net();
      give_numbers(*module, 1);
      Exchange exchange(net, encoded_plan({.codec = codec}), tensors_of(*module));
      DataParallel dp(module.ptr(), exchange);
      for (int step = 0; step < 3; ++step) {
        module->zero_grad();
        loss_of(module, 10 + 2 * step + net.rank()).backward();
        dp.wait();
      }
      return gradients(*module);
    });
    EXPECT_TRUE(same_bits(averages[1], averages[0]));
  }
}

TEST(DataParallel, GivesAGradientToParametersThatOtherRanksUsed) {
  on_ranks(2, [](Transport& net) {
    auto module = std::make_shared<Branches>();
    Exchange exchange(net, {}, tensors_of(*module));
    DataParallel dp(module, exchange);
    for (int step = 0; step < 2; ++step) {
      module->zero_grad(/*set_to_none=*/step == 0);
      module->forward(net.rank()).backward();
      const StepReport report = dp.wait();
      EXPECT_EQ(4, std::ranges::count(report.used, true));
      for (const int branch : {0, 1}) {
        const torch::Tensor gradient = module->branches[branch]->weight.grad();
        ASSERT_TRUE(gradient.defined());
        EXPECT_TRUE(torch::equal(gradient, torch::full({2, 4}, 0.5F)));
      }
      EXPECT_FALSE(module->branches[2]->weight.grad().defined());
    }
  });
}

TEST(DataParallel, WaitsOnARankThatHadNothingToLearn) {
  on_ranks(2, [](Transport& net) {
    auto module = std::make_shared<Branches>();
    Exchange exchange(net, {}, tensors_of(*module));
    DataParallel dp(module, exchange);
    if (net.rank() == 1) module->forward(0).backward();
    dp.wait();
    EXPECT_TRUE(torch::equal(module->branches[0]->bias.grad(), torch::full({2}, 0.5F)));
  });
}

TEST(DataParallel, ClipsToTheSameNormOnEveryRank) {
  const auto clipped = on_each<Gradients>(2, [](Transport& net) {
    auto module = plain_net();
    give_numbers(*module, 1);
    Exchange exchange(net, {}, tensors_of(*module));
    DataParallel dp(module.ptr(), exchange);
    (loss_of(module, 10 + net.rank()) * 1000).backward();
    dp.wait();
    torch::nn::utils::clip_grad_norm_(module->parameters(), 1.0);
    return gradients(*module);
  });
  EXPECT_TRUE(same_bits(clipped[0], clipped[1]));
  double squares = 0;
  for (const torch::Tensor& gradient : clipped[0]) squares += gradient.pow(2).sum().item<double>();
  EXPECT_NEAR(1, std::sqrt(squares), 1e-4);
}

TEST(DataParallel, GoesOnFromSavedResidualsBitForBit) {
  const Plan plan = encoded_plan({.codec = "onebit", .feedback = Feedback::on});
  on_ranks(2, [&](Transport& net) {
    auto module = plain_net();
    give_numbers(*module, 1);
    const auto step = [&](DataParallel& dp, std::uint64_t number) {
      module->zero_grad();
      loss_of(module, 10 + 2 * number + net.rank()).backward();
      dp.set_moment({.step = number});
      dp.wait();
      return gradients(*module);
    };
    std::vector<Array> saved;
    Gradients undisturbed;
    {
      Exchange exchange(net, plan, tensors_of(*module));
      DataParallel dp(module.ptr(), exchange);
      for (const std::uint64_t number : {0, 1}) step(dp, number);
      saved = dp.save();
      undisturbed = step(dp, 2);
    }
    EXPECT_EQ(net.rank() != 0, saved.empty());
    Exchange exchange(net, plan, tensors_of(*module));
    DataParallel dp(module.ptr(), exchange);
    const Gradients forgetful = step(dp, 2);
    EXPECT_FALSE(same_bits(forgetful, undisturbed));
    dp.load(saved);
    EXPECT_TRUE(same_bits(step(dp, 2), undisturbed));
  });
}

TEST(DataParallel, MakesRunningStatisticsEqualWhenAsked) {
  const auto buffers = on_each<Gradients>(2, [](Transport& net) {
    auto module = small_net();
    give_numbers(*module, 1);
    Exchange exchange(net, {}, tensors_of(*module));
    DataParallel dp(module.ptr(), exchange);
    loss_of(module, 10 + net.rank()).backward();
    dp.wait();
    const torch::Tensor mine = module->buffers()[0].clone();
    dp.broadcast_buffers();
    EXPECT_EQ(net.rank() == 0, torch::equal(mine, module->buffers()[0]));
    return module->buffers();
  });
  EXPECT_TRUE(same_bits(buffers[0], buffers[1]));
}

// In float32, two workers with half of the batch each take the steps that one with all of it takes.
TEST(DataParallel, TrainsLikeOneWorkerWithTheWholeBatch) {
  constexpr int kSteps = 5;
  const auto train = [](torch::nn::Sequential& module,
                        const std::function<torch::Tensor(int)>& loss,
                        const std::function<void()>& wait) {
    torch::optim::SGD optimiser(module->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
    for (int step = 0; step < kSteps; ++step) {
      optimiser.zero_grad();
      loss(step).backward();
      wait();
      optimiser.step();
    }
  };
  auto alone = plain_net();
  give_numbers(*alone, 1);
  train(
      alone,
      [&](int step) { return (loss_of(alone, 2 * step) + loss_of(alone, 2 * step + 1)) / 2; },
      [] {});
  const auto weights = on_each<Gradients>(2, [&](Transport& net) {
    auto module = plain_net();
    give_numbers(*module, 1);
    Exchange exchange(net, {}, tensors_of(*module));
    DataParallel dp(module.ptr(), exchange);
    train(
        module, [&](int step) { return loss_of(module, 2 * step + net.rank()); },
        [&] { dp.wait(); });
    return module->parameters();
  });
  EXPECT_TRUE(same_bits(weights[0], weights[1]));
  for (std::size_t i = 0; i < weights[0].size(); ++i)
    expect_near(weights[0][i], alone->parameters()[i]);
}

}  // namespace
}  // namespace narrowcast::test
