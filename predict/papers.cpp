#include "predict/papers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/error.hpp"
#include "predict/papers/figures.hpp"

namespace narrowcast {
namespace {

constexpr PaperModel kModels[] = {
    {"d16-node", "AlexNet on 4 GPUs of one machine (Dettmers, 2016)",
     "speedup = 4 T / (T - 6.5 + .05 + 4 * 3.34 + P) with a step of T ms on one GPU, of which 6.5\n"
     "are fully connected layers, and P = 6.81 ms (32 bits) or 2.55 (8 bits) of transfers that\n"
     "nothing hides. Measured by others at 32 bits: 3.66.",
     "Nothing: none of the errata of the cluster's model is in this one. Its 8-bit penalty is 37 "
     "%\n"
     "of the 32-bit one, not an eighth.",
     d16_node_figures},
    {"d16-cluster", "AlexNet on 96 GPUs in 32 nodes (Dettmers, 2016)",
     "12288 images, the fully connected layers in sub-batches of b, split over all nodes, with\n"
     "messages of x bytes: S = 2x/5 + 9x/5 + 31 (x/6 + latency), x = 4 * 9216 b/32 and an eighth "
     "of\n"
     "it at 8 bits; full = S below 1.3 ms, else 31 (S - 1.3); total = 12288/b * 6.5 + full;\n"
     "speedup = 96 T / (T - 6.5 + total). A GB is 2^30 bytes, with which the printed cells come\n"
     "out; if it were 10^6 kB of 1024 bytes, the headline would be 22.7 and 49.8.",
     "Mended: 8-bit messages are a quarter of 32-bit ones, not an eighth. The codec's time "
     "counts,\n"
     "0.10 and 0.05 ns a value as the raw timings have it. b=2048 has its own latency, not that "
     "of\n"
     "1024 (the 8-bit latency of b=12288 is a misprint, .06 for the .6 that was computed with).\n"
     "In rows of their own (fc by b), because two measurements must do for it: a sub-batch of the\n"
     "fully connected layers costs 2.3 ms and its share of 4.2, not 6.5 ms whatever its size.\n"
     "Left: 8-bit messages keep the latency of their row, though they are twice as large now; and\n"
     "all latencies probably contain time of transfer.",
     d16_cluster_figures},
    {"a20-steps", "steps of an all-reduce of 256 workers (Han et al., 2020)",
     "ring: 2 (p - 1); groups of k: 4 (k - 1) + 2 (p/k - 1). Sums that are kept in few bits are\n"
     "rounded the less often, the fewer steps there are ('narrowcast errors allreduce').",
     "Mended: groups of 16 take 90 steps by the paper's own formula, not 74.", a20_steps_figures},
};

}  // namespace

std::span<const PaperModel> paper_models() { return kModels; }

const PaperModel& paper_model(std::string_view name) {
  const auto* const found = std::ranges::find(kModels, name, &PaperModel::name);
  if (found != std::ranges::end(kModels)) return *found;
  std::vector<std::string_view> names;
  std::ranges::transform(kModels, std::back_inserter(names), &PaperModel::name);
  throw Error(Fault::usage,
              fmt::format("no paper's model '{}'; there are: {}", name, fmt::join(names, ", ")));
}

}  // namespace narrowcast
