#pragma once

#include <limits>
#include <string>
#include <utility>

#include "codec/codec.hpp"
#include "codec/dice.hpp"

namespace narrowcast {

// What all codecs with a scale for each block share.
//
//   wire, per block:   scale f32 | codes of the block's values, in whole bytes
//
// A block with a value that is not finite has the scale NaN (0x7fc00000) and codes of zero; all of
// it decodes to NaN. Any other scale is finite and not negative.
class BlockCodec : public Codec {
 public:
  BlockCodec(std::string spec, const Promise& promise)
      : spec_(std::move(spec)), promise_(promise) {}

  const std::string& spec() const override { return spec_; }
  const Promise& promise() const override { return promise_; }

 protected:
  // Parts of a block are encoded and decoded one after the other; none has more values.
  static constexpr std::size_t kPart = DiceCup::kMost;

  struct Part {
    Floats values;
    float scale;
    std::uint64_t first_index;
    DiceCup& dice;
  };

 private:
  // Bytes of the codes of `values`; those of a multiple of 8 values have no padding.
  virtual std::size_t code_bytes(std::size_t values) const noexcept = 0;
  // The scale of a block of finite values; an infinite one poisons the block. Default: max|x|.
  virtual float scale_of(Floats block) const;
  // Whether blocks with a tiny scale are multiplied by a power of two before they are encoded, so
  // that 1 / scale is finite.
  virtual bool lifts() const noexcept { return true; }
  // `scale` is positive and finite and, for codecs that lift, not tiny.
  virtual void encode_part(const Part& part, MutableBytes codes) const = 0;
  // Throws Fault::wire for codes that mean nothing.
  virtual void decode_part(Bytes codes, float scale, MutableFloats out, Into into) const = 0;

  std::size_t do_max_bytes(std::size_t values) const noexcept final;
  std::size_t do_encode(Floats in, MutableBytes out, const Stream& stream,
                        std::uint64_t first_index) const final;
  void do_decode(Bytes in, MutableFloats out, const Landing& landing) const final;

  std::size_t block_of(std::size_t values) const noexcept {
    return promise_.block == 0 ? values : promise_.block;
  }
  // `next` is what follows the block, to be fetched early.
  void encode_block(const Part& block, Floats next, MutableBytes codes) const;
  void decode_block(Bytes codes, float scale, MutableFloats out, const Landing& landing) const;
  void decode_apart(Bytes codes, float scale, MutableFloats out, const Landing& landing) const;

  std::string spec_;
  Promise promise_;
};

// What marks a poisoned block on the wire.
inline constexpr float kPoison = std::numeric_limits<float>::quiet_NaN();

// What float32 adds to the error of a code, as part of the largest value: a reciprocal (which may be
// subnormal and then has 21 bits), two products and a step.
inline constexpr double kFloatRoundings = 0x1p-20;

// Below this scale its reciprocal may overflow; such blocks are multiplied by kLift, exactly, before
// they are encoded. What travels is the scale as it was.
inline constexpr float kTiny = 0x1p-80f;
inline constexpr float kLift = 0x1p64f;

// Throws Fault::wire unless a block's scale is finite and not negative, or kPoison.
void check_scale(float scale);

// Lands values that are at hand: multiplied, and stored or added.
void land(Floats values, MutableFloats out, Into into, float factor);

// Fills with NaN, or adds it.
void poison(MutableFloats out);

// The distance of `levels` even steps up to `scale`, rounded so that the last level is never beyond
// the scale, where it could overflow.
float step_of(float scale, int levels);

// Throws Fault::wire unless the bits beyond `values` codes of `width` bits are zero.
void check_padding(Bytes codes, std::size_t values, int width);

}  // namespace narrowcast
