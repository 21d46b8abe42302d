#pragma once

#include <optional>

#include "study/process.hpp"
#include "study/runner.hpp"

// One try at a cell: its commands, each a process.
namespace narrowcast {

struct AttemptPlace {
  const StudyFolder& folder;
  const RunOptions& options;
  const StopSignals& signals;
};

// Fills in what came of record.cell: its values, or why it failed. Gives the signal that ended it before it was over;
// the record then says nothing.
std::optional<int> attempt(const AttemptPlace& place, CellRecord& record);

}  // namespace narrowcast
