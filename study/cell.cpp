#include "study/cell.hpp"

#include <fmt/core.h>

#include <array>

#include "base/checksum.hpp"
#include "plan/printable.hpp"

namespace narrowcast {
namespace {

// How people say it, in the order in which they say it.
struct Phrase {
  std::string_view axis;
  std::string_view text;  // {} is the value
};
constexpr std::array kPhrases{Phrase{"model", "{}"},
                              Phrase{"net", "{}"},
                              Phrase{"data", "{}"},
                              Phrase{"parallel", "{} parallel"},
                              Phrase{"workers", "{} workers"},
                              Phrase{"ranks", "{} ranks"},
                              Phrase{"batch", "batch {}"},
                              Phrase{"transport", "{}"},
                              Phrase{"link", "link {}"},
                              Phrase{"profile", "on {}"},
                              Phrase{"size", "{} bytes"},
                              Phrase{"codec", "{}"},
                              Phrase{"plan", "plan {}"},
                              Phrase{"seed", "seed {}"}};

}  // namespace

std::string_view Cell::at(std::string_view axis) const {
  const auto found = axes.find(axis);
  return found == axes.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<double> CellRecord::value(std::string_view name) const {
  const auto found = values.find(name);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

bool is_computed(const Cell& cell) {
  return cell.kind == "predict" && cell.at("profile") != "here";
}

bool times_count(const CellRecord& record) {
  return is_computed(record.cell) || record.others <= kBusy;
}

std::string id_of(const Cell& cell) {
  // Zeros are no part of any text, so that no two cells read the same.
  std::string all;
  const auto add = [&](const std::string& text) { all.append(text).push_back('\0'); };
  const auto add_all = [&](const auto& map) {
    for (const auto& [key, value] : map) {
      add(key);
      add(value);
    }
  };
  add(cell.kind);
  add_all(cell.axes);
  all.push_back('\0');
  add_all(cell.settings);
  return fmt::format("{:016x}", checksum(std::as_bytes(std::span(all))));
}

std::string name_of(const Cell& cell) {
  std::string name = cell.kind;
  for (const Phrase& phrase : kPhrases)
    if (const std::string_view value = cell.at(phrase.axis); !value.empty() && value != "none")
      name += (name == cell.kind ? " " : ", ") + fmt::format(fmt::runtime(phrase.text), value);
  return printable(name);
}

}  // namespace narrowcast
