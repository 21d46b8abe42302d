#include "base/json.hpp"

// The only file that compiles nlohmann/json, which takes longer than most others.
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"

namespace narrowcast {
namespace {

using Parsed = nlohmann::ordered_json;

JsonTree tree_of(const Parsed& parsed) {
  JsonTree tree;
  if (parsed.is_boolean()) {
    tree.kind = JsonKind::boolean;
    tree.boolean = parsed.get<bool>();
  } else if (parsed.is_number()) {
    tree.kind = parsed.is_number_integer() ? JsonKind::whole : JsonKind::real;
    tree.number = parsed.get<double>();
    if (parsed.is_number_integer()) tree.whole = parsed.get<std::int64_t>();
  } else if (parsed.is_string()) {
    tree.kind = JsonKind::text;
    tree.text = parsed.get<std::string>();
  } else if (parsed.is_array()) {
    tree.kind = JsonKind::array;
    for (const Parsed& item : parsed) tree.items.push_back(tree_of(item));
  } else if (parsed.is_object()) {
    tree.kind = JsonKind::object;
    for (const auto& [key, value] : parsed.items()) {
      tree.keys.push_back(key);
      tree.items.push_back(tree_of(value));
    }
  }
  return tree;
}

}  // namespace

JsonValue::JsonValue(double value) : text_(nlohmann::json(value).dump()) {}

JsonValue::JsonValue(std::string_view value) {
  try {
    text_ = nlohmann::json(value).dump();
  } catch (const nlohmann::json::exception&) {
    throw Error(Fault::usage, "JSON holds text in UTF-8 only");
  }
}

JsonValue json_array(const std::vector<JsonValue>& values) {
  JsonValue array;
  for (const JsonValue& value : values)
    array.text_ += (array.text_.empty() ? "[" : ",") + value.text();
  array.text_ += array.text_.empty() ? "[]" : "]";
  return array;
}

JsonValue json_object(const std::vector<JsonMember>& members) {
  JsonValue object;
  for (const auto& [key, value] : members)
    object.text_ += (object.text_.empty() ? "{" : ",") + JsonValue(key).text() + ":" + value.text();
  object.text_ += object.text_.empty() ? "{}" : "}";
  return object;
}

std::string json_line(const std::vector<JsonMember>& members) {
  return json_object(members).text() + "\n";
}

const JsonTree* JsonTree::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == key) return &items[i];
  return nullptr;
}

JsonTree parse_json(std::string_view text) {
  try {
    std::vector<std::set<std::string>> open;  // the keys of the objects that are not closed yet
    const auto watch = [&open](int level, Parsed::parse_event_t event, Parsed& parsed) {
      // Deep nesting would take the stack; nobody writes it in good faith.
      require(static_cast<std::size_t>(level) <= kDeepestJson, Fault::wire,
              "JSON is nested too deeply");
      if (event == Parsed::parse_event_t::object_start) open.emplace_back();
      if (event == Parsed::parse_event_t::object_end) open.pop_back();
      if (event == Parsed::parse_event_t::key &&
          !open.back().insert(parsed.get_ref<const std::string&>()).second)
        throw Error(Fault::wire, fmt::format("JSON has {} twice in one object", parsed.dump()));
      return true;
    };
    return tree_of(Parsed::parse(text, watch));
  } catch (const nlohmann::json::exception& error) {
    throw Error(Fault::wire, fmt::format("not JSON: {}", error.what()));
  }
}

}  // namespace narrowcast
