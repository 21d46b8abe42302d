// D16's network in plain libtorch, on one rank, without anything of Narrowcast: what the compute of
// `narrowcast train` is measured against (scripts/bench training). Prints the median step in ms.
//
//   example_libtorch_plain [STEPS]
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

struct Net : torch::nn::Module {
  torch::nn::Linear first{register_module("first", torch::nn::Linear(784, 1024))};
  torch::nn::Linear second{register_module("second", torch::nn::Linear(1024, 1024))};
  torch::nn::Linear third{register_module("third", torch::nn::Linear(1024, 10))};

  torch::Tensor forward(torch::Tensor x) {
    x = torch::dropout(x, 0.2, is_training());
    x = torch::dropout(torch::relu(first(x)), 0.3, is_training());
    x = torch::dropout(torch::relu(second(x)), 0.3, is_training());
    return third(x);
  }
};

double step(Net& net, torch::optim::Optimizer& optimizer) {
  const auto images = torch::rand({128, 784});
  const auto labels = torch::randint(10, {128}, torch::kInt64);
  const auto start = std::chrono::steady_clock::now();
  optimizer.zero_grad();
  torch::nn::functional::cross_entropy(net.forward(images), labels).backward();
  optimizer.step();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

int main(int count, char** words) {
  torch::set_num_threads(1);
  Net net;
  torch::optim::RMSprop optimizer(net.parameters(), torch::optim::RMSpropOptions(5e-4).alpha(0.9));
  std::vector<double> times;
  for (int left = count > 1 ? std::atoi(words[1]) : 10; left > 0; --left)
    times.push_back(step(net, optimizer));
  std::ranges::nth_element(times, times.begin() + times.size() / 2);
  std::printf("%.3f\n", times.empty() ? 0 : times[times.size() / 2]);
}
