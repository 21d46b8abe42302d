#include "plan/toml.hpp"

// The only file that compiles toml++, which takes longer than most others.
#include <fmt/core.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/version.hpp"
#include "plan/parts/nesting.hpp"
#include "plan/values.hpp"

namespace narrowcast {
namespace {

TomlTree tree_of(const toml::node& node);

TomlTree tree_of(const toml::table& table) {
  TomlTree tree{.kind = TomlKind::table};
  std::vector<std::pair<std::string, TomlTree>> items;
  for (const auto& [key, value] : table) items.emplace_back(key.str(), tree_of(value));
  // The parser has them by name; messages about the first mistake should mean the first line.
  std::ranges::stable_sort(items, {}, [](const auto& item) { return item.second.line; });
  for (auto& [key, value] : items) {
    tree.keys.push_back(std::move(key));
    tree.items.push_back(std::move(value));
  }
  return tree;
}

TomlTree tree_of(const toml::array& array) {
  TomlTree tree{.kind = TomlKind::array};
  for (const toml::node& item : array) tree.items.push_back(tree_of(item));
  return tree;
}

std::string text_of_scalar(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* truth = node.as_boolean()) return std::string(text_of(truth->get()));
  if (const auto* whole = node.as_integer()) return std::to_string(whole->get());
  if (const auto* real = node.as_floating_point()) return text_of(real->get());
  std::ostringstream moment;  // dates and times, which nothing takes
  node.visit([&](const auto& each) {
    if constexpr (toml::is_chronological<decltype(each)>) moment << each.get();
  });
  return moment.str();
}

TomlTree tree_of(const toml::node& node) {
  TomlTree tree;
  if (const auto* table = node.as_table()) {
    tree = tree_of(*table);
  } else if (const auto* array = node.as_array()) {
    tree = tree_of(*array);
  } else {
    tree.kind = TomlKind::scalar;
    tree.text = text_of_scalar(node);
  }
  tree.line = node.source().begin.line;
  return tree;
}

void drop_lines(TomlTree& tree) {
  tree.line = 0;
  for (TomlTree& item : tree.items) drop_lines(item);
}

}  // namespace

TomlTree parse_toml(std::string_view text, std::string_view origin) {
  if (const auto line = deep_key(text))
    throw unfit(fmt::format("{}:{}", origin, *line), "tables are nested too deeply");
  try {
    return tree_of(toml::parse(text));
  } catch (const toml::parse_error& error) {
    throw unfit(fmt::format("{}:{}", origin, error.source().begin.line), error.description());
  }
}

TomlTree parse_toml_value(std::string_view text, std::string_view origin) {
  if (!text.starts_with('[') && !text.starts_with('{'))
    return {.kind = TomlKind::scalar, .text = std::string(text)};
  if (deep_key(text)) throw unfit(origin, "tables are nested too deeply");
  try {
    TomlTree table = tree_of(toml::parse(fmt::format("value = {}", text)));
    if (table.items.size() != 1) throw unfit(origin, "is more than one value");
    drop_lines(table);
    return std::move(table.items.front());
  } catch (const toml::parse_error& error) {
    throw unfit(origin, error.description());
  }
}

std::string to_toml(const TomlTree& tree) {
  if (tree.kind == TomlKind::scalar) return in_quotes(tree.text);
  std::string out;
  for (std::size_t i = 0; i < tree.items.size(); ++i) {
    out += out.empty() ? "" : ", ";
    if (tree.kind == TomlKind::table) out += in_quotes(tree.keys[i]) + " = ";
    out += to_toml(tree.items[i]);
  }
  return tree.kind == TomlKind::array ? "[" + out + "]" : "{ " + out + " }";
}

void check_version(const TomlTree& table, std::string_view what, std::string_view origin) {
  for (std::size_t i = 0; i < table.keys.size(); ++i) {
    const TomlTree& item = table.items[i];
    if (table.keys[i] != kVersionKey) continue;
    if (item.kind != TomlKind::scalar || item.text != kTomlVersion)
      throw unfit(place(origin, item),
                  fmt::format("{} of version {}; narrowcast {} reads version {}", what,
                              item.kind == TomlKind::scalar ? in_quotes(item.text) : to_toml(item),
                              version(), kTomlVersion));
  }
}

std::string read_text(const std::filesystem::path& file) {
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  // A folder can be opened but not read; of an empty file nothing can be copied.
  if (in && in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
  if (!in.is_open() || in.bad() || text.fail())
    throw Error(Fault::system,
                fmt::format("cannot read '{}': {}", file.string(), std::strerror(errno)));
  return text.str();
}

std::string place(std::string_view origin, const TomlTree& tree) {
  return tree.line == 0 ? std::string(origin) : fmt::format("{}:{}", origin, tree.line);
}

}  // namespace narrowcast
