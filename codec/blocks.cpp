#include "codec/blocks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.hpp"

namespace narrowcast {
namespace {

// Values that are encoded between two looks ahead.
constexpr std::size_t kPiece = 512;

// Asks for the piece at `begin` of the next block, which is read from memory while the same piece of
// this one is computed.
void fetch_ahead(Floats next, std::size_t begin) {
  constexpr std::size_t kLine = 64 / sizeof(float);
  const std::size_t end = std::min(next.size(), begin + kPiece);
  for (std::size_t at = begin; at < end; at += kLine) __builtin_prefetch(&next[at]);
}

// Whether the factor may be multiplied into the scale: not where that loses bits or overflows,
// while the values themselves need not.
bool folds(float scale, float factor) {
  const float product = scale * factor;
  return factor == 1 || scale == 0 || (product > kTiny && std::isfinite(product));
}

}  // namespace

std::size_t BlockCodec::do_max_bytes(std::size_t values) const noexcept {
  if (values == 0) return 0;
  const std::size_t block = block_of(values);
  const std::size_t rest = values % block;
  return values / block * (sizeof(float) + code_bytes(block)) +
         (rest == 0 ? 0 : sizeof(float) + code_bytes(rest));
}

float BlockCodec::scale_of(Floats block) const {
  return kernel::active().absmax(block.data(), block.size());
}

std::size_t BlockCodec::do_encode(Floats in, MutableBytes out, const Stream& stream,
                                  std::uint64_t first_index) const {
  DiceCup dice(stream);
  MutableBytes rest = out;
  for (std::size_t begin = 0; begin < in.size(); begin += block_of(in.size())) {
    const Floats block = in.subspan(begin, std::min(block_of(in.size()), in.size() - begin));
    const Floats next = in.subspan(begin + block.size());
    const std::size_t bytes = code_bytes(block.size());
    const float scale = scale_of(block);
    rest = put(rest, std::isfinite(scale) ? scale : kPoison);
    if (std::isfinite(scale) && scale > 0)
      encode_block(
          {.values = block, .scale = scale, .first_index = first_index + begin, .dice = dice}, next,
          rest.first(bytes));
    else
      std::fill_n(rest.begin(), bytes, std::byte{0});
    rest = rest.subspan(bytes);
  }
  return out.size() - rest.size();
}

void BlockCodec::encode_block(const Part& block, Floats next, MutableBytes codes) const {
  std::array<float, kPiece> lifted;
  const bool lift = lifts() && block.scale < kTiny;
  for (std::size_t begin = 0; begin < block.values.size(); begin += kPiece) {
    Part piece{.values = block.values.subspan(begin, std::min(kPiece, block.values.size() - begin)),
               .scale = lift ? block.scale * kLift : block.scale,
               .first_index = block.first_index + begin,
               .dice = block.dice};
    fetch_ahead(next, begin);
    const MutableBytes to = codes.first(code_bytes(piece.values.size()));
    codes = codes.subspan(to.size());
    if (lift) {
      kernel::active().scale(piece.values.data(), piece.values.size(), kLift, lifted.data());
      piece.values = Floats(lifted).first(piece.values.size());
    }
    encode_part(piece, to);
  }
}

void BlockCodec::do_decode(Bytes in, MutableFloats out, const Landing& landing) const {
  const std::size_t block = block_of(out.size());
  for (std::size_t begin = 0; begin < out.size(); begin += block) {
    const MutableFloats values = out.subspan(begin, std::min(block, out.size() - begin));
    const std::size_t bytes = code_bytes(values.size());
    const auto scale = get<float>(in);
    check_scale(scale);
    decode_block(in.subspan(sizeof scale, bytes), scale, values, landing);
    in = in.subspan(sizeof scale + bytes);
  }
}

void BlockCodec::decode_block(Bytes codes, float scale, MutableFloats out,
                              const Landing& landing) const {
  if (std::isnan(scale)) return poison(out);
  for (std::size_t begin = 0; begin < out.size(); begin += kPart) {
    const MutableFloats values = out.subspan(begin, std::min(kPart, out.size() - begin));
    const Bytes from = codes.first(code_bytes(values.size()));
    codes = codes.subspan(from.size());
    if (folds(scale, landing.factor))
      decode_part(from, scale * landing.factor, values, landing.into);
    else
      decode_apart(from, scale, values, landing);
  }
}

// First the values, then the factor.
void BlockCodec::decode_apart(Bytes codes, float scale, MutableFloats out,
                              const Landing& landing) const {
  std::array<float, kPart> values;
  decode_part(codes, scale, MutableFloats(values).first(out.size()), Into::overwrite);
  land(Floats(values).first(out.size()), out, landing.into, landing.factor);
}

void check_scale(float scale) {
  const auto bits = std::bit_cast<std::uint32_t>(scale);
  require(bits < 0x7f800000u || bits == std::bit_cast<std::uint32_t>(kPoison), Fault::wire,
          "decode: a block's scale is negative or not finite");
}

void land(Floats values, MutableFloats out, Into into, float factor) {
  const kernel::Kernels& cpu = kernel::active();
  (into == Into::sum ? cpu.add_scaled : cpu.scale)(values.data(), out.size(), factor, out.data());
}

// A sum with NaN is NaN, so both ways to land are the same.
void poison(MutableFloats out) { std::fill(out.begin(), out.end(), kPoison); }

float step_of(float scale, int levels) {
  const float step = scale / static_cast<float>(levels);
  return step * static_cast<float>(levels) > scale ? std::nextafter(step, 0.0f) : step;
}

void check_padding(Bytes codes, std::size_t values, int width) {
  const std::size_t used = values * static_cast<std::size_t>(width) % 8;
  if (used == 0 || codes.empty()) return;
  require(std::to_integer<unsigned>(codes.back()) >> used == 0, Fault::wire,
          "decode: padding bits are not zero");
}

}  // namespace narrowcast
