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

}  // namespace

std::size_t Codec::max_bytes(std::size_t values) const { return do_max_bytes(values); }
std::size_t Codec::min_bytes(std::size_t values) const { return do_min_bytes(values); }

std::size_t Codec::encode(Floats in, MutableBytes out, const Encoding& how) const {
  const Promise& p = promise();
  require(out.size() >= do_max_bytes(in.size()), Fault::usage,
          "encode: output has no room for max_bytes(values)");
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
  if (how.residual.empty() && how.exponent == 0)
    return do_encode(in, out, how.stream, how.first_index);
  return encode_in_chunks(in, out, how);
}

std::size_t Codec::encode_in_chunks(Floats in, MutableBytes out, const Encoding& how) const {
  const std::size_t block = promise().block;
  const std::size_t chunk = block == 0 ? in.size() : std::max(block, kChunk / block * block);
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
