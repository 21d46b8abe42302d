#include "study/toml_reader.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "plan/printable.hpp"
#include "plan/values.hpp"

namespace narrowcast {

const TomlTree* TomlReader::find(const TomlTree& table, std::string_view key) {
  for (std::size_t i = 0; i < table.keys.size(); ++i)
    if (table.keys[i] == key) return &table.items[i];
  return nullptr;
}

std::optional<std::string> TomlReader::text(const TomlTree& table, std::string_view key) const {
  const TomlTree* found = find(table, key);
  if (found == nullptr) return std::nullopt;
  if (found->kind != TomlKind::scalar) refuse(*found, fmt::format("{} is one value", key));
  return found->text;
}

std::vector<std::string> TomlReader::list(const TomlTree& tree, std::string_view key) const {
  if (tree.kind == TomlKind::scalar) return {tree.text};
  if (tree.kind == TomlKind::table) refuse(tree, fmt::format("{} is a value or a list", key));
  std::vector<std::string> values;
  for (const TomlTree& item : tree.items) {
    if (item.kind != TomlKind::scalar) refuse(item, fmt::format("{} is a list of values", key));
    if (std::ranges::find(values, item.text) != values.end())
      refuse(item, fmt::format("{} has '{}' twice", key, item.text));
    values.push_back(item.text);
  }
  if (values.empty()) refuse(tree, fmt::format("{} is an empty list: nothing to do", key));
  return values;
}

std::optional<std::string> TomlReader::name(const TomlTree& table, std::string_view key) const {
  auto found = text(table, key);
  if (found) refuse_controls(*find(table, key), *found);
  return found;
}

std::vector<std::string> TomlReader::names(const TomlTree& tree, std::string_view key) const {
  std::vector<std::string> all = list(tree, key);
  for (const std::string& each : all) refuse_controls(tree, each);
  return all;
}

void TomlReader::refuse_controls(const TomlTree& at, const std::string& text) const {
  if (!is_printable(text)) refuse(at, fmt::format("'{}' has control characters", printable(text)));
}

void TomlReader::refuse(const TomlTree& at, const std::string& what) const {
  throw unfit(place(origin_, at), what);
}

void TomlReader::refuse_unknown(const TomlTree& table, std::span<const std::string_view> known,
                                std::string_view who) const {
  if (table.kind != TomlKind::table) refuse(table, fmt::format("{} keys and values", who));
  for (std::size_t i = 0; i < table.keys.size(); ++i)
    if (std::ranges::find(known, table.keys[i]) == known.end())
      refuse(table.items[i],
             fmt::format("{} no '{}'; {}", who, table.keys[i], instead_of(table.keys[i], known)));
}

}  // namespace narrowcast
