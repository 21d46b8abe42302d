#include <fmt/core.h>

#include "predict/papers/figures.hpp"

namespace narrowcast {
namespace {

constexpr int kWorkers = 256;
constexpr int kBits = 8;  // (5,2), which the paper sums in

int ring_steps(int workers) { return 2 * (workers - 1); }

// Within the groups, and in a ring of their masters.
int hierarchical_steps(int workers, int group) {
  return 4 * (group - 1) + 2 * (workers / group - 1);
}

struct Group {
  int size;
  std::optional<double> printed = {};
};
// The 74 is the paper's mistake: its own formula gives 90.
constexpr Group kGroups[] = {{4}, {8}, {16, 74}, {32}, {64}};

}  // namespace

// The formula is right, the figure was copied wrong: both modes are the same.
std::vector<PaperFigure> a20_steps_figures(Errata /*errata*/) {
  std::vector<PaperFigure> figures = {{.quantity = "steps",
                                       .setting = fmt::format("p={}, ring", kWorkers),
                                       .bits = kBits,
                                       .printed = 510,
                                       .computed = static_cast<double>(ring_steps(kWorkers))}};
  for (const Group& group : kGroups)
    figures.push_back({.quantity = "steps",
                       .setting = fmt::format("p={}, k={}", kWorkers, group.size),
                       .bits = kBits,
                       .printed = group.printed,
                       .computed = static_cast<double>(hierarchical_steps(kWorkers, group.size))});
  return figures;
}

}  // namespace narrowcast
