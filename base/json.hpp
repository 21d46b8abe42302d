#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace narrowcast {

// JSON to be printed: members stay in the order in which they are written down.
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
  JsonValue(std::string_view value);  // Fault::usage unless it is UTF-8
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

// JSON that was read.
enum class JsonKind { null, boolean, whole, real, text, array, object };

struct JsonTree {
  JsonKind kind = JsonKind::null;
  bool boolean = false;
  std::int64_t whole = 0;
  double number = 0;  // of `whole` too
  std::string text = {};
  std::vector<std::string> keys = {};  // of an object, in the order of its items
  std::vector<JsonTree> items = {};

  const JsonTree* find(std::string_view key) const;  // nullptr: an object without it, or none
};

inline constexpr std::size_t kDeepestJson = 64;

// Fault::wire for what is none, and for an object that has a key twice.
JsonTree parse_json(std::string_view text);

}  // namespace narrowcast
