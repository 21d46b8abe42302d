#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"

// Values as text: what TOML files, the environment and the command line have in common.
namespace narrowcast {

// Fault::usage, "origin: what" in one line: control characters are escaped.
Error unfit(std::string_view origin, std::string_view what);

// In TOML's quotation marks. The text is UTF-8.
std::string in_quotes(std::string_view text);
bool is_utf8(std::string_view text);

// What the whole of the text says; none when it is something else.
std::optional<std::uint64_t> whole_of(std::string_view text);
std::optional<double> real_of(std::string_view text);  // finite
std::optional<bool> truth_of(std::string_view text);   // "true" or "false"

// The fewest digits that read back the same.
std::string text_of(double value);
// As TOML has it; quoted where its integers do not reach.
std::string text_of(std::uint64_t value);
inline std::string_view text_of(std::same_as<bool> auto value) { return value ? "true" : "false"; }

// How to go on after a name that does not exist: the one that takes the fewest changes of a letter
// when one is near, else all of them.
std::string instead_of(std::string_view name, std::span<const std::string_view> known);

// A value and its name in files.
template <class Value>
struct Named {
  std::string_view name;
  Value value;
};

template <class Value, std::size_t n>
std::optional<Value> value_of(const std::array<Named<Value>, n>& all, std::string_view name) {
  for (const Named<Value>& each : all)
    if (each.name == name) return each.value;
  return std::nullopt;
}

template <class Value, std::size_t n>
std::string_view name_of(const std::array<Named<Value>, n>& all, Value value) {
  for (const Named<Value>& each : all)
    if (each.value == value) return each.name;
  throw Error(Fault::usage, "a value without a name");
}

}  // namespace narrowcast
