#include "study/named.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "codec/codec.hpp"
#include "study/toml_reader.hpp"

namespace narrowcast {
namespace {

class Reader : TomlReader {
 public:
  using TomlReader::TomlReader;

  NamedSettings read(const TomlTree& root, std::string_view key) const {
    NamedSettings named;
    const TomlTree* all = find(root, key);
    if (all == nullptr) return named;
    if (all->kind != TomlKind::table)
      refuse(*all, fmt::format("[{}] has a table for each name", key));
    for (std::size_t i = 0; i < all->keys.size(); ++i) {
      const TomlTree& table = all->items[i];
      refuse_controls(table, all->keys[i]);
      if (table.kind != TomlKind::table)
        refuse(table, fmt::format("'{}' is a table", all->keys[i]));
      if (key == "codecs") {
        constexpr std::array<std::string_view, 4> kWay{"codec", "scaling", "feedback", "plan"};
        refuse_unknown(table, kWay, "a codec has");
        if (find(table, "codec") == nullptr && find(table, "plan") == nullptr)
          refuse(table, "a codec needs 'codec', a spec, or a table 'plan'");
        refuse_disguise(table, all->keys[i]);
      }
      add_named(table, key == "plans" ? "plan." : "", named[all->keys[i]]);
    }
    return named;
  }

 private:
  // A codec by the name of another would be measured in its place, and be what others are compared with. One with
  // options or a plan of its own is still the codec that its name says.
  void refuse_disguise(const TomlTree& table, const std::string& name) const {
    if (is_codec(name) && !is_of_codec(table, name))
      refuse(table, fmt::format("'{}' is a codec, and cannot stand for another", name));
  }

  static bool is_codec(const std::string& name) {
    try {
      return make_codec(name) != nullptr;
    } catch (const Error&) {
      return false;
    }
  }

  static bool is_of_codec(const TomlTree& tree, const std::string& name) {
    constexpr std::array<std::string_view, 3> kSpecs{"codec", "activations", "errors"};
    for (std::size_t i = 0; i < tree.items.size(); ++i) {
      const TomlTree& item = tree.items[i];
      const bool is_spec = item.kind == TomlKind::scalar && tree.kind == TomlKind::table &&
                           std::ranges::find(kSpecs, tree.keys[i]) != kSpecs.end();
      if (is_spec && item.text != name && !item.text.starts_with(name + ":")) return false;
      if (!is_of_codec(item, name)) return false;
    }
    return true;
  }

  // A codec may be a whole plan, where one spec does not say it.
  void add_named(const TomlTree& table, const std::string& prefix,
                 std::map<std::string, std::string>& into) const {
    for (std::size_t i = 0; i < table.keys.size(); ++i) {
      const TomlTree& item = table.items[i];
      if (prefix.empty() && table.keys[i] == "plan" && item.kind == TomlKind::table)
        add_named(item, "plan.", into);
      else
        into[prefix + table.keys[i]] = item.kind == TomlKind::scalar ? item.text : to_toml(item);
    }
  }
};

}  // namespace

NamedSettings read_named(const TomlTree& root, std::string_view key, std::string_view origin) {
  return Reader(origin).read(root, key);
}

}  // namespace narrowcast
