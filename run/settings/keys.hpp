#pragma once

#include <span>
#include <string>
#include <string_view>

#include "run/run.hpp"

namespace narrowcast {

// A setting that is one field of a run. Those that are not, `plan` and what makes one, are
// resolve.cpp's affair.
struct RunKey {
  std::string_view name;
  std::string_view fits;                    // what it takes
  bool (*set)(Run& run, std::string_view);  // false, and nothing has changed: it does not fit
  std::string (*text)(const Run& run);      // as TOML has it
};

// In the order in which they are written: those without a dot first, then table by table.
std::span<const RunKey> run_key_rows();

}  // namespace narrowcast
