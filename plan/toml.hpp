#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"

// TOML that was read, for this room and for those that have a plan among other settings.
namespace narrowcast {

enum class TomlKind { scalar, array, table };

// A scalar is its text: whoever uses it knows what it should be. Quotation marks make no difference,
// so that a value means the same on the command line.
struct TomlTree {
  TomlKind kind = TomlKind::table;
  std::string text = {};               // of a scalar
  std::vector<std::string> keys = {};  // of a table, in the order of its items
  std::vector<TomlTree> items = {};    // of a table, as they stand in the file, or of an array
  std::size_t line = 0;                // where it begins; 0: it has no lines
};

// Fault::usage for what is none, one line that starts with `origin` and the line number.
TomlTree parse_toml(std::string_view text, std::string_view origin);
// The right side of an equals sign if it starts with a bracket, else plain text. It has no lines.
TomlTree parse_toml_value(std::string_view text, std::string_view origin);
// parse_toml_value() of this gives the same tree, but for lines and empty tables and arrays.
std::string to_toml(const TomlTree& tree);

// The version of what is written in TOML here: plans, profiles, settings of runs, studies. A change that
// an earlier narrowcast would misread takes a new one.
inline constexpr std::string_view kTomlVersion = "1";
inline constexpr std::string_view kVersionKey = "version";
// Fault::usage, naming both, for a table of another version: before its keys are looked at, which may
// be others then. A table without the key is of version 1.
void check_version(const TomlTree& table, std::string_view what, std::string_view origin);

// The whole file. Fault::system when it cannot be read.
std::string read_text(const std::filesystem::path& file);

// "plan.toml:7", or the origin alone.
std::string place(std::string_view origin, const TomlTree& tree);

// Lays the keys of a table, which is a plan or a part of one, over what is there; rules are replaced
// as a whole. Faults as in parse_plan().
void read_into(Plan& plan, const TomlTree& table, std::string_view origin);

std::optional<Scaling> scaling_of(std::string_view name);

// Fault::usage, starting with `origin`, when the codec does not exist or cannot be scaled so.
void check_way(const Way& way, std::string_view origin);

}  // namespace narrowcast
