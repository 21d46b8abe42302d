#pragma once

#include <string>
#include <string_view>

#include "cli/table.hpp"
#include "codec/codec.hpp"

// What is said of the codecs, to people at a terminal and in docs/codecs.md.
namespace narrowcast::cli {

Table variants_table();
extern const std::string_view kVariantsLegend;

struct OptionText {
  std::string spec;  // as a spec has it: "bits=4", or "e" where there is no default
  std::string note;  // then " (required)" or " (depends on bits)"
};
OptionText option_text(const CodecRow& row, const Option& option);

// docs/codecs.md, whole.
std::string codecs_page();

}  // namespace narrowcast::cli
