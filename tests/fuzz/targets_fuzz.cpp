// Any floats in any codec: all CPU targets write the same bytes and decode the same bits.
//
//   input:   u8 which codec | i8 exponent | u8 residual or not | the floats
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "codec/codec.hpp"
#include "codec/target.hpp"

namespace {

using namespace narrowcast;

struct Outcome {
  std::vector<std::byte> message;
  std::vector<std::uint32_t> bits;
  bool operator==(const Outcome&) const = default;
};

const std::vector<std::unique_ptr<Codec>>& all_codecs() {
  static const auto all = [] {
    std::vector<std::unique_ptr<Codec>> made;
    for (const CodecRow& row : codecs())
      for (const std::string_view variant : row.variants) made.push_back(make_codec(variant));
    return made;
  }();
  return all;
}

// All NaNs are one: which of two a sum keeps is up to the instruction.
void append_bits(Floats values, std::vector<std::uint32_t>& bits) {
  for (const float value : values)
    bits.push_back(std::isnan(value) ? 0x7fc00000u : std::bit_cast<std::uint32_t>(value));
}

Outcome run(const Codec& codec, Floats x, Encoding how, bool with_residual) {
  Outcome outcome;
  std::vector<float> residual(with_residual ? x.size() : 0, 0.125f);
  how.residual = residual;
  outcome.message.resize(codec.max_bytes(x.size()));
  outcome.message.resize(codec.encode(x, outcome.message, how));
  std::vector<float> values(x.size());
  codec.decode(outcome.message, values, how.exponent);
  append_bits(values, outcome.bits);
  codec.accumulate(outcome.message, values, how.exponent);
  append_bits(values, outcome.bits);
  append_bits(residual, outcome.bits);
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const auto& all = all_codecs();
  const Codec& codec = *all[data[0] % all.size()];
  const int exponent = static_cast<std::int8_t>(data[1]) % (kMaxExponent + 1);
  std::vector<float> x((size - 3) / sizeof(float));
  copy(std::as_bytes(std::span(data + 3, x.size() * sizeof(float))),
       std::as_writable_bytes(std::span(x)));
  if (codec.promise().non_finite == NonFinite::refuses_nan)
    std::erase_if(x, [](float v) { return std::isnan(v); });
  const Encoding how{.stream = stream_of({.seed = data[2]}), .exponent = exponent};
  const bool with_residual = data[2] % 2 == 1;

  use_target("scalar");
  const Outcome expected = run(codec, x, how, with_residual);
  for (const std::string& target : cpu_targets()) {
    use_target(target);
    if (run(codec, x, how, with_residual) != expected) std::abort();
  }
  return 0;
}
