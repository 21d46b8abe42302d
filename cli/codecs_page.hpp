#pragma once

#include <string>
#include <string_view>

#include "cli/table.hpp"
#include "codec/codec.hpp"

// What is said of the codecs, to people at a terminal and in docs/codecs.md.
namespace narrowcast::cli {

Table variants_table();
extern const std::string_view kVariantsLegend;

std::string option_text(const Option& option);  // "bits=4", or "e" when there is no default

// docs/codecs.md, whole.
std::string codecs_page();

}  // namespace narrowcast::cli
