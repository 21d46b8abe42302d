// Four ranks exchange the gradients of two layers while they go on computing: named buffers in,
// averages out.
//
// The ranks are threads here. In processes, join() of transport/join.hpp takes the place of the hub,
// and everything else stays.
#include "exchange/exchange.hpp"

#include <cstdio>
#include <thread>
#include <vector>

#include "transport/inproc.hpp"

namespace nc = narrowcast;

int main() {
  constexpr int kRanks = 4;
  const std::vector<nc::Tensor> tensors = {{.name = "output.weight", .elements = 100'000},
                                           {.name = "output.bias", .elements = 10},
                                           {.name = "input.weight", .elements = 200'000}};
  const nc::Plan plan = nc::parse_plan(R"(
      fusion = "256KiB"
      rule = [ { tensors = "*", codec = "qsgd:bits=4", feedback = true } ]
  )",
                                       "example");
  nc::Hub hub(kRanks);
  std::vector<std::vector<std::vector<float>>> gradients(kRanks);
  std::vector<nc::StepReport> reports(kRanks);
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < kRanks; ++rank)
      ranks.emplace_back([&, rank] {
        for (const nc::Tensor& tensor : tensors)
          gradients[rank].emplace_back(tensor.elements, 0.001F * static_cast<float>(rank + 1));
        const auto net = hub.connect(rank);
        nc::Exchange exchange(*net, plan, tensors, {.seed = 1});

        exchange.begin({.step = 0, .epoch = 0});
        for (std::size_t i = 0; i < tensors.size(); ++i) {
          // ... back-propagation makes gradient i here, while those before it travel ...
          exchange.ready(i, gradients[rank][i]);
        }
        reports[rank] = exchange.wait();
      });
  }
  for (const auto& [codec, bytes] : reports[0].bytes_by_codec)
    std::printf("rank 0 sent %llu bytes in %s\n", static_cast<unsigned long long>(bytes),
                codec.c_str());
  std::printf("fp32 would have been %llu bytes\n",
              static_cast<unsigned long long>(reports[0].fp32_bytes));
  for (int rank = 0; rank < kRanks; ++rank) {
    std::printf("rank %d: average %.6f\n", rank, static_cast<double>(gradients[rank][0][0]));
    if (gradients[rank] != gradients[0]) return 1;
  }
}
