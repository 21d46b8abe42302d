#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "plan/values.hpp"

// Text into fields and back. What does not fit gives false and changes nothing.
namespace narrowcast::field {

struct Range {
  double least = 0;
  double most = std::numeric_limits<double>::max();
};

bool put(int& field, std::string_view text, int least);
bool put(std::uint64_t& field, std::string_view text);
bool put(double& field, std::string_view text, const Range& range);
bool put(bool& field, std::string_view text);
bool put(std::string& field, std::string_view text);
bool put(std::filesystem::path& field, std::string_view text);
bool put(std::vector<double>& field, std::string_view text);  // "30,60": ascending, above 0

inline std::string text(int field) { return std::to_string(field); }
inline std::string text(std::uint64_t field) { return text_of(field); }
inline std::string text(double field) { return text_of(field); }
inline std::string text(bool field) { return std::string(text_of(field)); }
inline std::string text(const std::string& field) { return in_quotes(field); }
inline std::string text(const std::filesystem::path& field) { return in_quotes(field.string()); }
std::string text(const std::vector<double>& field);

}  // namespace narrowcast::field
