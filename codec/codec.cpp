#include "codec/codec.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "codec/kernel/kernels.hpp"

namespace narrowcast {
namespace {

// Values that go through scratch memory at a time: small enough to stay in the first-level cache.
constexpr std::size_t kChunk = 4096;

float power_of_two(int exponent) { return std::ldexp(1.0f, exponent); }

void check_exponent(int exponent) {
  require(-kMaxExponent <= exponent && exponent <= kMaxExponent, Fault::usage,
          "codec: exponent out of range");
}

void refuse_nan(Floats in, const std::string& spec) {
  if (!std::isnan(kernel::active().absmax(in.data(), in.size()))) return;
  const auto at = std::find_if(in.begin(), in.end(), [](float v) { return std::isnan(v); });
  throw Error(Fault::usage, spec + " has no room for NaN, and value " +
                                std::to_string(at - in.begin()) + " is NaN");
}

// How many values are encoded at a time where there is a choice; none for a codec that may not be
// cut.
std::optional<std::size_t> chunk_of(const Promise& promise) {
  if (promise.block == 0) return std::nullopt;
  return std::max(promise.block, kChunk / promise.block * promise.block);
}

}  // namespace

std::size_t Codec::max_bytes(std::size_t values) const { return do_max_bytes(values); }
std::size_t Codec::min_bytes(std::size_t values) const { return do_min_bytes(values); }

void Codec::check(Floats in, const Encoding& how) const {
  const Promise& p = promise();
  require(how.residual.empty() || how.residual.size() == in.size(), Fault::usage,
          "encode: residual needs one float for each value");
  require(p.block == 0 ? how.first_index == 0 : how.first_index % p.block == 0, Fault::usage,
          "encode: first_index is not at a block border");
  check_exponent(how.exponent);
  if (p.non_finite == NonFinite::refuses_nan) {
    refuse_nan(in, spec());
    // An infinite residual could make a NaN of an infinity.
    require(std::isfinite(kernel::active().absmax(how.residual.data(), how.residual.size())),
            Fault::usage, "encode: a residual is not finite");
  }
}

std::size_t Codec::encode(Floats in, MutableBytes out, const Encoding& how) const {
  require(out.size() >= do_max_bytes(in.size()), Fault::usage,
          "encode: output has no room for max_bytes(values)");
  check(in, how);
  if (how.residual.empty() && how.exponent == 0)
    return do_encode(in, out, how.stream, how.first_index);
  return encode_in_chunks(in, out, how);
}

void Codec::quantize(Floats in, MutableFloats out, const Encoding& how) const {
  require(out.size() == in.size(), Fault::usage, "quantize: output needs one float for each value");
  check(in, how);
  if (how.residual.empty() && how.exponent == 0)
    return do_quantize(in, out, how.stream, how.first_index);
  quantize_by_bytes(in, out, how);
}

void Codec::do_quantize(Floats in, MutableFloats out, const Stream& stream,
                        std::uint64_t first_index) const {
  quantize_by_bytes(in, out, {.stream = stream, .first_index = first_index});
}

void Codec::quantize_by_bytes(Floats in, MutableFloats out, const Encoding& how) const {
  const std::size_t chunk = std::min(chunk_of(promise()).value_or(in.size()), in.size());
  std::vector<float> scratch(how.residual.empty() && how.exponent == 0 ? 0 : chunk);
  std::vector<std::byte> bytes(do_max_bytes(chunk));
  for (std::size_t begin = 0; begin < in.size(); begin += chunk) {
    const std::size_t count = std::min(chunk, in.size() - begin);
    Encoding part = how;
    part.first_index += begin;
    if (!how.residual.empty()) part.residual = how.residual.subspan(begin, count);
    const Floats some = in.subspan(begin, count);
    const std::size_t used =
        scratch.empty() ? do_encode(some, bytes, part.stream, part.first_index)
                        : encode_chunk(some, bytes, part, MutableFloats(scratch).first(count));
    do_decode(Bytes(bytes).first(used), out.subspan(begin, count),
              {.factor = power_of_two(-how.exponent)});
  }
}

std::size_t Codec::encode_in_chunks(Floats in, MutableBytes out, const Encoding& how) const {
  const std::size_t chunk = chunk_of(promise()).value_or(in.size());
  std::array<float, kChunk> at_hand;
  std::vector<float> larger(chunk > kChunk ? std::min(chunk, in.size()) : 0);
  const MutableFloats scratch = larger.empty() ? MutableFloats(at_hand) : MutableFloats(larger);
  std::size_t used = 0;
  for (std::size_t begin = 0; begin < in.size(); begin += chunk) {
    const std::size_t count = std::min(chunk, in.size() - begin);
    Encoding part = how;
    part.first_index += begin;
    if (!how.residual.empty()) part.residual = how.residual.subspan(begin, count);
    used += encode_chunk(in.subspan(begin, count), out.subspan(used), part, scratch.first(count));
  }
  return used;
}

std::size_t Codec::encode_chunk(Floats in, MutableBytes out, const Encoding& how,
                                MutableFloats scratch) const {
  const kernel::Kernels& cpu = kernel::active();
  Floats x = in;
  if (!how.residual.empty()) {
    cpu.add_scaled(in.data(), in.size(), 1, how.residual.data());
    x = how.residual;
  }
  if (how.exponent != 0) {
    cpu.scale(x.data(), x.size(), power_of_two(how.exponent), scratch.data());
    x = scratch;
  }
  const std::size_t used = do_encode(x, out, how.stream, how.first_index);
  if (!how.residual.empty()) {
    do_decode(out.first(used), scratch, {.factor = power_of_two(-how.exponent)});
    cpu.settle(scratch.data(), scratch.size(), how.residual.data());
  }
  return used;
}

void Codec::decode(Bytes in, MutableFloats out, int exponent) const {
  check_exponent(exponent);
  decode_into(in, out, {.into = Into::overwrite, .factor = power_of_two(-exponent)});
}

void Codec::accumulate(Bytes in, MutableFloats sum, int exponent) const {
  check_exponent(exponent);
  decode_into(in, sum, {.into = Into::sum, .factor = power_of_two(-exponent)});
}

void Codec::decode_into(Bytes in, MutableFloats out, const Landing& landing) const {
  require(in.size() >= do_min_bytes(out.size()) && in.size() <= do_max_bytes(out.size()),
          Fault::wire, "decode: message has the wrong length");
  do_decode(in, out, landing);
}

}  // namespace narrowcast
