#include "codec/spec.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.hpp"

namespace narrowcast {
namespace {

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

// Cuts `text` at the first `mark` and returns what stood before it; empty text when it is used up.
std::string_view next(std::string_view& text, char mark) {
  const std::size_t at = std::min(text.find(mark), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

template <class Number>
bool parse(std::string_view text, Number& value) {
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stopped == end;
}

std::string keys_of(const CodecRow& row) {
  if (row.options.empty()) return "none";
  std::string keys;
  for (const Option& option : row.options)
    keys += (keys.empty() ? "" : ", ") + std::string(option.key);
  return keys;
}

}  // namespace

Options::Options(const CodecRow& row, std::string_view text, const TensorShape& shape)
    : row_(row), shape_(shape) {
  for (const Option& option : row.options)
    if (!option.fallback.empty()) values_.emplace(option.key, option.fallback);
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view value = next(rest, ',');
    const std::string_view key = next(value, '=');
    const auto known = std::find_if(row.options.begin(), row.options.end(),
                                    [&](const Option& option) { return option.key == key; });
    if (known == row.options.end())
      refuse("has no option " + quoted(key) + "; its options are: " + keys_of(row));
    if (value.empty())
      refuse("option " + std::string(key) + " needs a value: " + std::string(known->values));
    if (!given_.emplace(key, value).second)
      refuse("option " + std::string(key) + " is given twice");
    values_.insert_or_assign(std::string(key), std::string(value));
  }
  if (text.ends_with(',')) refuse("has a comma at the end of its options");
}

const Option& Options::option(std::string_view key) const {
  return *std::find_if(row_.options.begin(), row_.options.end(),
                       [&](const Option& option) { return option.key == key; });
}

std::string_view Options::text(std::string_view key) const {
  const auto found = values_.find(key);
  if (found == values_.end())
    refuse("needs the option " + std::string(key) + ": " + std::string(option(key).values));
  return found->second;
}

std::int64_t Options::integer(std::string_view key, std::int64_t least, std::int64_t most) const {
  std::int64_t value = 0;
  const std::string_view text = this->text(key);
  if (!parse(text, value) || value < least || value > most)
    refuse("option " + std::string(key) + " is " + std::string(option(key).values) + ", not " +
           quoted(text));
  resolve(key, std::to_string(value));
  return value;
}

double Options::real(std::string_view key, double least, double most) const {
  double value = 0;
  const std::string_view text = this->text(key);
  if (!parse(text, value) || !(value >= least && value <= most))
    refuse("option " + std::string(key) + " is " + std::string(option(key).values) + ", not " +
           quoted(text));
  value += 0.0;  // minus zero is zero
  std::array<char, 32> shortest{};
  const auto end = std::to_chars(shortest.data(), shortest.data() + shortest.size(), value).ptr;
  resolve(key, std::string(shortest.data(), end));
  return value;
}

std::string_view Options::word(std::string_view key) const {
  const std::string_view text = this->text(key);
  std::string_view valid = option(key).values;
  while (!valid.empty())
    if (next(valid, '|') == text) return text;
  refuse("option " + std::string(key) + " is one of " + std::string(option(key).values) + ", not " +
         quoted(text));
}

bool Options::given(std::string_view key) const { return given_.find(key) != given_.end(); }

void Options::resolve(std::string_view key, std::string value) const {
  values_.insert_or_assign(std::string(key), std::move(value));
}

std::string Options::canonical() const {
  std::string spec(row_.name);
  char mark = ':';
  for (const Option& option : row_.options) {
    const auto found = values_.find(option.key);
    if (found == values_.end()) continue;
    spec += mark + std::string(option.key) + '=' + found->second;
    mark = ',';
  }
  return spec;
}

void Options::refuse(const std::string& why) const {
  throw Error(Fault::usage, "codec " + std::string(row_.name) + " " + why);
}

std::unique_ptr<Codec> make_codec(std::string_view spec, const TensorShape& shape) {
  std::string_view options = spec;
  const std::string_view name = next(options, ':');
  std::string names;
  for (const CodecRow& row : codecs()) {
    if (row.name == name) {
      if (spec.ends_with(':'))
        throw Error(Fault::usage, "codec " + quoted(spec) + " has no options after its colon");
      return row.make(Options(row, options, shape));
    }
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  throw Error(Fault::usage, "no codec " + quoted(name) + "; there are: " + names);
}

}  // namespace narrowcast
