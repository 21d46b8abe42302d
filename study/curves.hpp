#pragma once

#include <span>
#include <string>
#include <string_view>

#include "study/records.hpp"

namespace narrowcast {

enum class Measure { test_error, train_loss };

// A chart of characters: epochs to the right, one letter for each run.
std::string curves_text(std::span<const RunRecord> runs, Measure measure);

// A page of its own: curves, what travelled and what it took, and every run's settings. One file that
// needs no other.
std::string curves_page(std::span<const RunRecord> runs, std::string_view title);

}  // namespace narrowcast
