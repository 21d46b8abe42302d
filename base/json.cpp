#include "cli/json.hpp"

// The only file that compiles nlohmann/json, which takes longer than most commands.
#include <nlohmann/json.hpp>

namespace narrowcast::cli {

JsonValue::JsonValue(double value) : text_(nlohmann::json(value).dump()) {}

JsonValue::JsonValue(std::string_view value) : text_(nlohmann::json(value).dump()) {}

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

}  // namespace narrowcast::cli
