// Several passes, tied weights, and what is refused.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <map>
#include <string>

#include "tests/support/check.hpp"
#include "tests/train/small_modules.hpp"
#include "train/data_parallel.hpp"

namespace narrowcast::test {
namespace {

using testing::HasSubstr;

TEST(DataParallel, AddsUpHereUnderNoSync) {
  on_ranks(2, [](Transport& net) {
    auto module = plain_net();
    give_numbers(*module, 1);
    Exchange exchange(net, {}, tensors_of(*module));
    DataParallel dp(module.ptr(), exchange);
    (loss_of(module, 10 + net.rank()) + loss_of(module, 20 + net.rank())).backward();
    dp.wait();
    const Gradients at_once = gradients(*module);

    module->zero_grad();
    {
      const auto quiet = dp.no_sync();
      loss_of(module, 10 + net.rank()).backward();
      EXPECT_EQ(Fault::usage, fault_of([&] { dp.wait(); }));
    }
    loss_of(module, 20 + net.rank()).backward();
    dp.wait();
    for (std::size_t i = 0; i < at_once.size(); ++i) expect_near(gradients(*module)[i], at_once[i]);
  });
}

TEST(DataParallel, SendsWhatOnlyPassesUnderNoSyncHaveMade) {
  on_ranks(2, [](Transport& net) {
    auto module = std::make_shared<Branches>();
    Exchange exchange(net, {}, tensors_of(*module));
    DataParallel dp(module, exchange);
    {
      const auto quiet = dp.no_sync();
      if (net.rank() == 0) module->forward(0).backward();
    }
    module->forward(1).backward();
    dp.wait();
    EXPECT_TRUE(torch::equal(module->branches[0]->bias.grad(), torch::full({2}, 0.5F)));
    EXPECT_TRUE(torch::equal(module->branches[1]->bias.grad(), torch::full({2}, 1.0F)));
  });
}

TEST(DataParallel, RefusesASecondBackwardPassBeforeWait) {
  on_ranks(2, [](Transport& net) {
    auto module = plain_net();
    give_numbers(*module, 1);
    Exchange exchange(net, {}, tensors_of(*module));
    DataParallel dp(module.ptr(), exchange);
    loss_of(module, 10).backward();
    try {
      loss_of(module, 20).backward();
      ADD_FAILURE() << "nobody noticed";
    } catch (const Error& error) {
      EXPECT_EQ(Fault::usage, error.fault());
      EXPECT_THAT(error.what(), HasSubstr("no_sync"));
    }
    // What was under way arrives unharmed.
    dp.wait();
    auto alone = plain_net();
    give_numbers(*alone, 1);
    loss_of(alone, 10).backward();
    for (std::size_t i = 0; i < alone->parameters().size(); ++i)
      expect_near(module->parameters()[i].grad(), alone->parameters()[i].grad());
  });
}

TEST(DataParallel, RefusesAnExchangeForOtherTensors) {
  on_ranks(1, [](Transport& net) {
    auto module = plain_net();
    std::vector<Tensor> fewer = tensors_of(*module);
    fewer.pop_back();
    std::vector<Tensor> more = tensors_of(*module);
    more.push_back({.name = "stranger", .elements = 3});
    std::vector<Tensor> other = tensors_of(*module);
    other[1].elements += 1;
    for (const auto& tensors : {fewer, more, other}) {
      Exchange exchange(net, {}, tensors);
      EXPECT_EQ(Fault::usage, fault_of([&] { DataParallel(module.ptr(), exchange); }));
    }
  });
}

TEST(DataParallel, NamesParametersThatCannotTravel) {
  on_ranks(1, [](Transport& net) {
    auto module = plain_net();
    module[2]->to(torch::kFloat64);
    Exchange exchange(net, {}, tensors_of(*module));
    try {
      const DataParallel dp(module.ptr(), exchange);
      ADD_FAILURE() << "nobody noticed";
    } catch (const Error& error) {
      EXPECT_EQ(Fault::usage, error.fault());
      EXPECT_THAT(error.what(), HasSubstr("'2.weight'"));
    }
  });
}

// Weights that go by two names, and two parameters to which back-propagation hands the same memory.
struct Tied : torch::nn::Module {
  Tied() {
    weight = register_parameter("first", torch::ones({3, 3}));
    register_parameter("second", weight);
    matrix = register_parameter("matrix", torch::ones({2, 2}));
    row = register_parameter("row", torch::ones({1, 4}));
  }
  torch::Tensor forward() {
    return (weight * weight).sum() + (matrix.view({4}) + row.view({4})).pow(2).sum();
  }
  torch::Tensor weight, matrix, row;
};

TEST(DataParallel, TakesTiedWeightsAndSharedMemory) {
  auto alone = std::make_shared<Tied>();
  alone->forward().backward();
  EXPECT_EQ(alone->matrix.grad().data_ptr(), alone->row.grad().data_ptr()) << "nothing to test";
  Plan plan;
  plan.total = Total::sum;
  plan.fusion_bytes = 1;  // one after the other: what is summed twice is seen
  on_ranks(2, [&](Transport& net) {
    auto module = std::make_shared<Tied>();
    Exchange exchange(net, plan, tensors_of(*module));
    EXPECT_EQ(3, exchange.tensors().size());
    DataParallel dp(module, exchange);
    (module->forward() * (net.rank() + 1)).backward();
    dp.wait();
    EXPECT_TRUE(torch::equal(module->weight.grad(), torch::full({3, 3}, 6.0F)));
    EXPECT_TRUE(torch::equal(module->matrix.grad(), torch::full({2, 2}, 12.0F)));
    EXPECT_TRUE(torch::equal(module->row.grad(), torch::full({1, 4}, 12.0F)));
  });
}

// Copies would cost more than some codecs do.
TEST(DataParallel, ExchangesGradientsWhereBackPropagationHasMadeThem) {
  on_ranks(2, [](Transport& net) {
    torch::nn::Sequential module(torch::nn::Conv2d(1, 2, 3), torch::nn::BatchNorm2d(2),
                                 torch::nn::ReLU(), torch::nn::Flatten(), torch::nn::Linear(18, 3));
    Exchange exchange(net, {}, tensors_of(*module));
    DataParallel dp(module.ptr(), exchange);
    std::map<std::string, const void*> made;
    for (const auto& item : module->named_parameters())
      item.value().register_hook([&made, name = item.key()](const torch::Tensor& gradient) {
        made[name] = gradient.data_ptr();
      });
    module->forward(numbers({4, 1, 5, 5}, 1)).pow(2).mean().backward();
    dp.wait();
    for (const auto& item : module->named_parameters())
      EXPECT_EQ(made.at(item.key()), item.value().grad().data_ptr()) << item.key();
  });
}

// One that is added to an activation: its gradient is that activation's, which goes on backward.
TEST(DataParallel, DoesNotWriteToWhatBackPropagationHasYetToRead) {
  on_ranks(2, [](Transport& net) {
    auto module = std::make_shared<Tied>();
    Exchange exchange(net, {}, tensors_of(*module));
    DataParallel dp(module, exchange);
    const torch::Tensor hidden = torch::tanh(module->row.view({4}));
    const void* read = nullptr;
    hidden.register_hook([&](const torch::Tensor& gradient) { read = gradient.data_ptr(); });
    (hidden + module->matrix.view({4})).pow(2).sum().backward();
    dp.wait();
    EXPECT_NE(read, module->matrix.grad().data_ptr());
  });
}

TEST(DataParallel, LeavesBackPropagationAloneWhenItIsGone) {
  on_ranks(2, [](Transport& net) {
    auto module = plain_net();
    give_numbers(*module, 1);
    Exchange exchange(net, {}, tensors_of(*module));
    auto dp = std::make_unique<DataParallel>(module.ptr(), exchange);
    const torch::Tensor loss = loss_of(module, 10 + net.rank());
    dp.reset();
    loss.backward();  // through a graph that has the hooks still
    auto alone = plain_net();
    give_numbers(*alone, 1);
    loss_of(alone, 10 + net.rank()).backward();
    EXPECT_TRUE(same_bits(gradients(*module), gradients(*alone)));
  });
}

TEST(DataParallel, KeepsLocalParametersToTheRank) {
  on_ranks(2, [](Transport& net) {
    auto module = std::make_shared<Branches>();
    give_numbers(*module, 100 * net.rank());
    const torch::Tensor own = module->branches[0]->weight.detach().clone();
    const DataParallelOptions options = {.local = {"left.weight"}};
    Exchange exchange(net, {}, tensors_of(*module, options));
    DataParallel dp(module, exchange, options);
    EXPECT_TRUE(torch::equal(own, module->branches[0]->weight));
    (module->forward(0) * net.rank()).backward();
    dp.wait();
    EXPECT_TRUE(torch::equal(module->branches[0]->weight.grad(),
                             torch::full({2, 4}, static_cast<float>(net.rank()))));
    EXPECT_TRUE(torch::equal(module->branches[0]->bias.grad(), torch::full({2}, 0.5F)));
    EXPECT_EQ(Fault::usage, fault_of([&] { tensors_of(*module, {.local = {"left.weigth"}}); }));
  });
}

}  // namespace
}  // namespace narrowcast::test
