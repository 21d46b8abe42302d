#pragma once

#include <memory>
#include <optional>
#include <string>

#include "codec/codec.hpp"
#include "codec/kernel/format.hpp"

namespace narrowcast {

// Any floating-point format, one value after the other, packed into 1 + e + m bits each, lowest
// bits first: what fp16, bf16, e4m3, e5m2 and float have in common.
std::unique_ptr<Codec> make_format_codec(std::string spec, const kernel::FormatSpec& format);

// The format to which a codec rounds value by value; empty for codecs that do something else.
std::optional<kernel::Format> float_format(const Codec& codec);

}  // namespace narrowcast
