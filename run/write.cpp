#include <fmt/core.h>

#include "plan/toml.hpp"
#include "run/run.hpp"
#include "run/settings/keys.hpp"

namespace narrowcast {

std::string to_toml(const Run& run) {
  std::string out = fmt::format("{} = {}\n", kVersionKey, kTomlVersion);
  std::string_view table;
  for (const RunKey& key : run_key_rows()) {
    const std::size_t dot = key.name.find('.');
    const bool in_table = dot != std::string_view::npos;
    if (in_table && key.name.substr(0, dot) != table) {
      table = key.name.substr(0, dot);
      out += fmt::format("\n[{}]\n", table);
    }
    out += fmt::format("{} = {}\n", in_table ? key.name.substr(dot + 1) : key.name, key.text(run));
  }
  return out + "\n[plan]\n" + to_toml(run.plan);
}

}  // namespace narrowcast
