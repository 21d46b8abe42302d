// The README's training loop, as tests/package/run has put it beside this file, with what it takes for granted.
#include <torch/torch.h>

#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "train/data_parallel.hpp"
#include "transport/inproc.hpp"

std::vector<torch::Tensor> trained(std::unique_ptr<narrowcast::Transport> transport) {
  torch::nn::Sequential model(torch::nn::Linear(64, 256), torch::nn::Linear(256, 2));
  torch::optim::SGD optimizer(model->parameters(), 0.1);
  const auto loss = [](const torch::Tensor& output, const torch::Tensor& target) {
    return torch::nn::functional::cross_entropy(output, target);
  };
  std::vector<torch::data::Example<>> batches;
  for (int step = 0; step < 3; ++step)
    batches.emplace_back(torch::randn({8, 64}), torch::randint(2, {8}, torch::kInt64));
#include <cpp_3>
  return model->parameters();
}

int main() {
  narrowcast::Hub hub(2);
  std::vector<torch::Tensor> theirs;
  std::jthread other([&] { theirs = trained(hub.connect(1)); });
  const std::vector<torch::Tensor> ours = trained(hub.connect(0));
  other.join();
  for (std::size_t i = 0; i < ours.size(); ++i)
    if (!ours[i].equal(theirs[i])) return 1;
  std::puts("the training loop of the README works");
}
