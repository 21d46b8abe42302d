#pragma once

#include <string>
#include <string_view>

#include "codec/codec.hpp"

// Promises in words, for listings and documentation.
namespace narrowcast {

std::string_view name_of(NonFinite non_finite);     // "block-is-nan"
std::string_view meaning_of(NonFinite non_finite);  // a sentence
std::string block_text(const Promise& promise);
std::string error_text(const Promise& promise);
std::string bias_text(const Promise& promise);

}  // namespace narrowcast
