#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "plan/plan.hpp"
#include "tests/support/ranks.hpp"

// Small modules with known weights, on several ranks.
namespace narrowcast::test {

// Numbers of a test's own: torch's generator is shared by all ranks of the process.
inline torch::Tensor numbers(at::IntArrayRef shape, std::uint64_t seed) {
  auto generator = at::detail::createCPUGenerator(seed);
  return torch::randn(shape, generator);
}

inline void give_numbers(torch::nn::Module& module, std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  for (torch::Tensor& parameter : module.parameters())
    parameter.copy_(numbers(parameter.sizes(), ++seed));
}

inline torch::nn::Sequential small_net() {
  return torch::nn::Sequential(torch::nn::Linear(6, 5), torch::nn::BatchNorm1d(5),
                               torch::nn::Tanh(), torch::nn::Linear(5, 3));
}

inline torch::nn::Sequential plain_net() {
  return torch::nn::Sequential(torch::nn::Linear(6, 5), torch::nn::Tanh(), torch::nn::Linear(5, 3));
}

inline torch::Tensor loss_of(torch::nn::Sequential& net, std::uint64_t seed) {
  return net->forward(numbers({4, 6}, seed)).pow(2).mean();
}

inline std::vector<torch::Tensor> gradients(const torch::nn::Module& module) {
  std::vector<torch::Tensor> list;
  for (const torch::Tensor& parameter : module.parameters())
    list.push_back(parameter.grad().defined() ? parameter.grad().clone() : torch::Tensor());
  return list;
}

inline bool same_bits(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  return std::ranges::equal(a, b, [](const torch::Tensor& x, const torch::Tensor& y) {
    return x.defined() == y.defined() && (!x.defined() || torch::equal(x, y));
  });
}

// As near as sums of a few float32 of this size are.
inline void expect_near(const torch::Tensor& actual, const torch::Tensor& expected) {
  ASSERT_TRUE(actual.defined());
  EXPECT_TRUE(torch::allclose(actual, expected, 1e-5, 1e-6)) << actual << expected;
}

// What every rank has to show at the end, by rank.
template <class Value>
std::vector<Value> on_each(int ranks, const std::function<Value(Transport&)>& body) {
  at::set_num_threads(1);
  std::vector<Value> values(ranks);
  on_ranks(ranks, [&](Transport& net) { values[net.rank()] = body(net); });
  return values;
}
using Gradients = std::vector<torch::Tensor>;

inline Plan encoded_plan(const Way& way) {
  Plan plan = plan_for(way);
  plan.min_elements = 0;
  return plan;
}

// Three branches, of which each forward pass uses one.
struct Branches : torch::nn::Module {
  Branches() {
    for (const char* name : {"left", "right", "nobody"})
      branches.push_back(register_module(name, torch::nn::Linear(4, 2)));
  }
  torch::Tensor forward(int branch) { return branches[branch]->forward(torch::ones({1, 4})).sum(); }
  std::vector<torch::nn::Linear> branches;
};

}  // namespace narrowcast::test
