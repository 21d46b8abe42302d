// Four ranks add up a gradient that travels in four bits, and end with the same bits.
//
// The ranks are threads here. In processes, join() of transport/join.hpp takes the place of the hub,
// and everything else stays.
#include <cstdio>
#include <thread>
#include <vector>

#include "codec/codec.hpp"
#include "collective/collective.hpp"
#include "transport/counting.hpp"
#include "transport/inproc.hpp"

namespace nc = narrowcast;

int main() {
  constexpr int kRanks = 4;
  constexpr std::size_t kValues = 100'000;
  nc::Hub hub(kRanks);
  std::vector<std::vector<float>> gradients(kRanks);
  std::vector<std::uint64_t> sent(kRanks);
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < kRanks; ++rank)
      ranks.emplace_back([&, rank] {
        gradients[rank].assign(kValues, 0.001F * static_cast<float>(rank + 1));
        std::vector<float> residual(kValues);  // kept from step to step
        const auto codec = nc::make_codec("qsgd:bits=4");

        nc::Counting net(hub.connect(rank));
        nc::Conversation group(net, 0);
        const nc::Piece piece{
            .values = gradients[rank], .codec = codec.get(), .sender_residual = residual};
        nc::all_reduce(nc::all_reduce_row("direct"), {&piece, 1}, {.result = nc::Result::average},
                       group);
        sent[rank] = net.sent().bytes;
      });
  }
  std::printf("each rank sent about %.0f bytes instead of %.0f\n", static_cast<double>(sent[0]),
              2.0 * kValues * sizeof(float) * (kRanks - 1) / kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    std::printf("rank %d: average %.6f\n", rank, static_cast<double>(gradients[rank][0]));
    if (gradients[rank] != gradients[0]) return 1;
  }
}
