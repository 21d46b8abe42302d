#pragma once

#include <span>
#include <string>
#include <vector>

#include "study/report/section.hpp"

// What tells the rows of a figure apart besides codec and seed.
namespace narrowcast {

// Axes of each cell without "codec", "plan" and "seed"; also settings, where two cells with equal axes differ
// in them. Links and transports of a machine profile are the profile's own.
std::vector<Axes> settings_of(std::span<const Cell* const> cells);

// Axes that differ become columns; those that do not are said once.
class SettingColumns {
 public:
  explicit SettingColumns(std::span<const Axes> settings, std::string_view without = {});

  void add_to(Table& table) const;  // before other columns
  void add_to(Row& row, const Axes& setting) const;

  std::vector<std::string> names() const;  // of its columns: facets of a chart
  std::string common() const;              // "All: mnist-mlp, 2 workers." or nothing

 private:
  struct Varying {
    std::string axis;
    bool numbers = true;
  };
  std::vector<Varying> varying_;
  Axes common_;
};

// For people: "network", "2 workers", "no limit".
std::string axis_name(std::string_view axis);
std::string axis_value(std::string_view axis, std::string_view value);

}  // namespace narrowcast
