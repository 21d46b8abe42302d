#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// JSON to be printed: members stay in the order in which they are written down.
namespace narrowcast::cli {

template <typename T>
concept WholeNumber = std::integral<T> && !std::same_as<T, bool>;

class JsonValue;
struct JsonMember;

JsonValue json_array(const std::vector<JsonValue>& values);
JsonValue json_object(const std::vector<JsonMember>& members);

// An object as a line of JSON Lines, with its end of line.
std::string json_line(const std::vector<JsonMember>& members);

// Made of whatever stands for one: nullptr, a bool, a number, text, or what the functions above
// make.
class JsonValue {
 public:
  JsonValue(std::nullptr_t) : text_("null") {}
  JsonValue(std::same_as<bool> auto value) : text_(value ? "true" : "false") {}
  JsonValue(WholeNumber auto value) : text_(std::to_string(value)) {}
  JsonValue(double value);  // the fewest digits that read back the same; null if not finite
  JsonValue(std::string_view value);
  JsonValue(const std::convertible_to<std::string_view> auto& value)
      : JsonValue(std::string_view(value)) {}

  const std::string& text() const { return text_; }

 private:
  friend JsonValue json_array(const std::vector<JsonValue>& values);
  friend JsonValue json_object(const std::vector<JsonMember>& members);
  JsonValue() = default;

  std::string text_;
};

struct JsonMember {
  std::string_view key;
  JsonValue value;
};

}  // namespace narrowcast::cli
