// A network of libtorch learns on several ranks. Gradients leave while back-propagation still runs,
// in eight bits a number, and all ranks have the same weights after every step.
//
// Started by torchrun or mpirun, each process is a rank; alone, two threads are.
#include <torch/torch.h>

#include <cstdio>
#include <thread>

#include "train/data_parallel.hpp"
#include "transport/environment.hpp"
#include "transport/inproc.hpp"

namespace nc = narrowcast;

void train(nc::Transport& net) {
  torch::nn::Sequential model(torch::nn::Linear(64, 256), torch::nn::ReLU(),
                              torch::nn::Linear(256, 2));
  const nc::Plan plan = nc::plan_for({.codec = "dynamic8"});
  nc::Exchange exchange(net, plan, nc::tensors_of(*model));
  nc::DataParallel dp(model.ptr(), exchange);  // all begin with the weights of rank 0

  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  std::uint64_t sent = 0;
  std::uint64_t in_fp32 = 0;
  double loss_of_last = 0;
  for (int step = 0; step < 100; ++step) {
    const auto images = torch::randn({32, 64});  // other ones on every rank
    const auto labels = images.slice(1, 0, 8).sum(1).gt(0).to(torch::kInt64);
    optimizer.zero_grad();
    const auto loss = torch::nn::functional::cross_entropy(model->forward(images), labels);
    loss.backward();
    const nc::StepReport report = dp.wait();  // gradients are averages now
    torch::nn::utils::clip_grad_norm_(model->parameters(), 1.0);
    optimizer.step();
    sent += report.bytes();
    in_fp32 += report.fp32_bytes;
    loss_of_last = loss.item<double>();
  }
  double sum = 0;
  for (const auto& weight : model->parameters()) sum += weight.abs().sum().item<double>();
  std::printf("rank %d: loss %.3f, weights sum to %.9f, sent %.0f kB instead of %.0f\n", net.rank(),
              loss_of_last, sum, static_cast<double>(sent) / 1e3,
              static_cast<double>(in_fp32) / 1e3);
}

int main() {
  const nc::Launch launch = nc::read_launch(nc::environment_variable);
  if (launch.launcher != nc::Launcher::none) {
    nc::Joining joining;
    joining.place = launch.place;
    joining.rendezvous = launch.rendezvous;
    train(*nc::transport_row(launch.transport).join(joining));
    return 0;
  }
  nc::Hub hub(2);
  const std::jthread other([&] { train(*hub.connect(1)); });
  train(*hub.connect(0));
}
