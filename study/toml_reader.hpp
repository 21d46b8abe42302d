#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/toml.hpp"

// Reads what a study's file has, and refuses what it does not: Fault::usage, one line with the place.
namespace narrowcast {

class TomlReader {
 public:
  explicit TomlReader(std::string_view origin) : origin_(origin) {}

 protected:
  const std::string& origin() const { return origin_; }

  // Nothing where the table has no such key.
  static const TomlTree* find(const TomlTree& table, std::string_view key);
  std::optional<std::string> text(const TomlTree& table, std::string_view key) const;
  // A value or an array of values, none twice; at least one.
  std::vector<std::string> list(const TomlTree& tree, std::string_view key) const;

  // The same of what is shown to people: without control characters.
  std::optional<std::string> name(const TomlTree& table, std::string_view key) const;
  std::vector<std::string> names(const TomlTree& tree, std::string_view key) const;
  void refuse_controls(const TomlTree& at, const std::string& text) const;

  [[noreturn]] void refuse(const TomlTree& at, const std::string& what) const;
  // `who` is "a study has".
  void refuse_unknown(const TomlTree& table, std::span<const std::string_view> known,
                      std::string_view who) const;

 private:
  std::string origin_;
};

}  // namespace narrowcast
