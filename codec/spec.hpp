#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "codec/codec.hpp"

namespace narrowcast {

// The options of one spec, checked against a row: every key is one the row declares. A factory
// reads each of them once; what it reads is collected into the canonical spec.
class Options {
 public:
  Options(const CodecRow& row, std::string_view text, const TensorShape& shape);

  std::string_view text(std::string_view key) const;
  // An integer within [least, most].
  std::int64_t integer(std::string_view key, std::int64_t least, std::int64_t most) const;
  double real(std::string_view key, double least, double most) const;
  // One of the words of Option::values, which reads "a|b|c".
  std::string_view word(std::string_view key) const;
  // Whether the spec names the key, rather than leaving it at its default.
  bool given(std::string_view key) const;
  const TensorShape& shape() const { return shape_; }

  // Replaces the value that the canonical spec will show, for defaults that depend on other
  // options.
  void resolve(std::string_view key, std::string value) const;
  // The spec with every option that has a value, in the row's order.
  std::string canonical() const;

  // A Fault::usage that names the spec.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  const Option& option(std::string_view key) const;

  const CodecRow& row_;
  TensorShape shape_;
  mutable std::map<std::string, std::string, std::less<>> values_;
  std::map<std::string, std::string, std::less<>> given_;
};

}  // namespace narrowcast
