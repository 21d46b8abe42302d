#pragma once

#include <functional>
#include <span>
#include <vector>

namespace narrowcast::bench {

using Operation = std::function<void()>;

// Nanoseconds that one call of each operation takes: the best of many short batches. The operations
// take turns, so that whatever else the machine does meets all of them alike and their ratios hold.
// Goes on for about `seconds` for each operation, and for three turns at least.
std::vector<double> best_nanoseconds(std::span<const Operation> operations, double seconds);

}  // namespace narrowcast::bench
