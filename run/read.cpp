#include <fmt/core.h>

#include <algorithm>

#include "plan/toml.hpp"
#include "plan/values.hpp"
#include "run/run.hpp"

namespace narrowcast {
namespace {

// Flattens a tree into settings.
class Flattening {
 public:
  explicit Flattening(const std::filesystem::path& file) : file_(file), origin_(file.string()) {}

  std::vector<Setting> settings(const TomlTree& tree) {
    check_version(tree, "a run", origin_);
    // The plan's file first: what else stands here is laid over it, wherever it stands.
    for (std::size_t i = 0; i < tree.keys.size(); ++i)
      if (tree.keys[i] == "plan" && tree.items[i].kind == TomlKind::scalar)
        add("plan", plan_file(tree.items[i].text), tree.items[i]);
    for (std::size_t i = 0; i < tree.keys.size(); ++i) {
      const TomlTree& item = tree.items[i];
      if (tree.keys[i] == kVersionKey) continue;
      if (tree.keys[i] != "plan")
        flatten(tree.keys[i], item);
      else if (item.kind != TomlKind::scalar)
        flatten_plan(item);
    }
    refuse_two_answers();
    return std::move(settings_);
  }

 private:
  const Setting* find(std::string_view key) const {
    const auto found = std::ranges::find(settings_, key, &Setting::key);
    return found == settings_.end() ? nullptr : &*found;
  }

  // One of them would silently win.
  void refuse_two_answers() const {
    if (find("plan.rule") == nullptr) return;
    for (const char* key : {"codec", "scaling", "feedback"})
      if (const Setting* setting = find(key))
        throw unfit(setting->origin,
                    fmt::format("{} and the rules of [plan] exclude each other", key));
  }

  void add(std::string key, std::string value, const TomlTree& at) {
    settings_.push_back({std::move(key), std::move(value), place(origin_, at)});
  }

  // Beside the file that names it, like any inclusion.
  std::string plan_file(const std::string& name) const {
    return name.empty() ? name : (file_.parent_path() / name).string();
  }

  void flatten(const std::string& key, const TomlTree& item) {
    if (item.kind == TomlKind::scalar) return add(key, item.text, item);
    if (item.kind == TomlKind::array) return add(key, joined(key, item), item);
    for (std::size_t i = 0; i < item.keys.size(); ++i)
      flatten(key + "." + item.keys[i], item.items[i]);
  }

  std::string joined(const std::string& key, const TomlTree& array) const {
    std::string list;
    for (const TomlTree& item : array.items) {
      if (item.kind != TomlKind::scalar)
        throw unfit(place(origin_, item), fmt::format("{} is no list of lists or tables", key));
      list += (list.empty() ? "" : ",") + item.text;
    }
    return list;
  }

  void flatten_plan(const TomlTree& table) {
    // Here its lines are still known.
    Plan scratch;
    read_into(scratch, table, origin_);
    for (std::size_t i = 0; i < table.keys.size(); ++i) {
      const TomlTree& item = table.items[i];
      const bool plain = item.kind == TomlKind::scalar;
      add("plan." + table.keys[i], plain ? item.text : to_toml(item), item);
    }
  }

  const std::filesystem::path& file_;
  std::string origin_;
  std::vector<Setting> settings_ = {};
};

}  // namespace

std::vector<Setting> read_settings(const std::filesystem::path& toml) {
  const std::string text = read_text(toml);
  return Flattening(toml).settings(parse_toml(text, toml.string()));
}

}  // namespace narrowcast
