#include "codec/promise_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cfloat>

namespace narrowcast {
namespace {

struct NonFiniteRow {
  NonFinite value;
  std::string_view name;
  std::string_view meaning;
};

constexpr NonFiniteRow kNonFinite[] = {
    {NonFinite::exact, "exact", "NaN stays NaN, infinity the same infinity"},
    {NonFinite::nan_becomes_inf, "nan-becomes-inf", "NaN becomes infinity, infinity stays"},
    {NonFinite::inf_becomes_nan, "inf-becomes-nan", "both become NaN, in the same value"},
    {NonFinite::saturates_inf, "saturates-inf",
     "NaN stays NaN, infinity becomes the largest value"},
    {NonFinite::nan_becomes_inf_inf_saturates, "nan-becomes-inf-inf-saturates",
     "NaN becomes infinity, infinity the largest value"},
    {NonFinite::block_is_nan, "block-is-nan", "either makes its whole block NaN"},
    {NonFinite::block_not_finite, "block-not-finite",
     "the value itself comes out not finite, others of its block may"},
    {NonFinite::refuses_nan, "refuses-nan",
     "NaN is refused before anything is written, infinity becomes the largest value"},
};

const NonFiniteRow& row_of(NonFinite value) {
  return *std::ranges::find(kNonFinite, value, &NonFiniteRow::value);
}

}  // namespace

std::string_view name_of(NonFinite non_finite) { return row_of(non_finite).name; }
std::string_view meaning_of(NonFinite non_finite) { return row_of(non_finite).meaning; }

std::string block_text(const Promise& promise) {
  return promise.block == 0 ? "all" : std::to_string(promise.block);
}

std::string error_text(const Promise& promise) {
  std::string text;
  const auto add = [&](double size, std::string_view of) {
    if (size > 0) text += fmt::format("{}{:.3g}{}", text.empty() ? "" : " or ", size, of);
  };
  add(promise.of_block, " max");
  add(promise.of_value, " |x|");
  // What rounding adds among the smallest floats there are is left to the JSON listing.
  if (text.empty() || promise.absolute >= 4 * FLT_MIN) add(promise.absolute, "");
  return text.empty() ? "0" : text;
}

std::string bias_text(const Promise& promise) {
  return promise.bias ? fmt::format("{:.2g}", *promise.bias) : "";
}

}  // namespace narrowcast
