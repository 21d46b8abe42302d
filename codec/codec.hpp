#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/random.hpp"

// The face of this room: the only header other rooms need for turning floats into bytes and back.
namespace narrowcast {

// What becomes of NaN and infinity. Never a plausible number, except where saturation was asked
// for.
enum class NonFinite {
  exact,            // NaN decodes to NaN, infinity to the same infinity
  nan_becomes_inf,  // a format without mantissa has no room for NaN; infinity is exact
  inf_becomes_nan,  // both decode to NaN, in the same element
  saturates_inf,    // NaN decodes to NaN; infinity becomes the largest value
  nan_becomes_inf_inf_saturates,  // no mantissa, and saturation was asked for
  block_is_nan,                   // either turns its whole block (Promise::block values) into NaN
  block_not_finite,  // the element itself decodes to a non-finite value, others of its block may
  refuses_nan,       // NaN is refused before anything is written; infinity saturates
};

// What every caller may count on, as data: tests hold each row of the catalogue to it.
struct Promise {
  // Cutting the input at a multiple of this changes no byte and no value. 0: may not be cut at all,
  // the whole input shares one scale.
  std::size_t block = 1;
  // encode() returns max_bytes() exactly.
  bool fixed_size = true;
  // |x - x'| <= max(of_block * max|block|, of_value * |x|, absolute), for finite |x| <= largest.
  double of_block = 0;
  double of_value = 0;
  double absolute = 0;
  // Beyond it values overflow: to infinity or NaN, or to `largest` where the codec saturates. One
  // such value may take its whole block along.
  double largest = 3.4028234663852886e38;
  // Empty for deterministic rounding. Otherwise |E[x'] - x| <= bias * max|block| + absolute, where
  // for a codec that has no blocks max|block| is |x| itself.
  std::optional<double> bias;
  NonFinite non_finite = NonFinite::exact;
};

// How to encode; all of it is known to the sender alone but the exponent.
struct Encoding {
  Stream stream = {};             // the dice of stochastic codecs; others ignore it
  std::uint64_t first_index = 0;  // index of in[0] in its tensor: a multiple of the block
  int exponent = 0;               // what is encoded is x * 2^exponent; within +-kMaxExponent
  // Error feedback, in and out; empty when off, else one float for each value. x = in + residual is
  // what gets encoded, and residual becomes x - x', or 0 where that is not finite.
  MutableFloats residual = {};
};

// 2^k and 2^-k are both normal floats. A caller that computes a larger k (APS on a layer of tiny
// values) clamps it: a smaller factor only leaves more room.
inline constexpr int kMaxExponent = 126;

// Whether decoded values replace what is there or are added to it.
enum class Into { overwrite, sum };

// Turns floats into fewer bytes and back. Stateless and thread-safe; error feedback is state and
// belongs to the caller (exchange/), who passes it through Encoding.
class Codec {
 public:
  virtual ~Codec() = default;

  // The canonical spec: every option resolved, in the catalogue's order. make_codec(spec()) gives
  // an equal codec.
  virtual const std::string& spec() const = 0;
  virtual const Promise& promise() const = 0;

  // The most bytes that `values` floats can take; exactly that many when promise().fixed_size.
  std::size_t max_bytes(std::size_t values) const;
  // The fewest: the same, unless the size varies.
  std::size_t min_bytes(std::size_t values) const;

  // Writes at most max_bytes(in.size()) bytes, which `out` must have room for, and returns how
  // many. Equal input gives equal bytes on every CPU target. Allocates only for Elias coding, and
  // when a residual or an exponent is given to a codec with blocks of more than 4096 values.
  std::size_t encode(Floats in, MutableBytes out, const Encoding& how = {}) const;

  // out = x' * 2^-exponent. `in` must be one whole message for out.size() values. A message of
  // another length, and bytes that cannot be one, are Fault::wire and leave `out` unspecified.
  void decode(Bytes in, MutableFloats out, int exponent = 0) const;

  // sum += x' * 2^-exponent, in one pass and without a temporary of that size.
  void accumulate(Bytes in, MutableFloats sum, int exponent = 0) const;

  // What decode makes of what encode writes, bit for bit; float formats leave the bytes out. `out` has
  // in.size() values and may be `in` itself.
  void quantize(Floats in, MutableFloats out, const Encoding& how = {}) const;

 protected:
  // Where do_decode leaves its values: multiplied by `factor`, a power of two.
  struct Landing {
    Into into = Into::overwrite;
    float factor = 1;
  };

 private:
  // Sizes have been checked and implementations trust them; contents of messages they check.
  virtual std::size_t do_max_bytes(std::size_t values) const noexcept = 0;
  virtual std::size_t do_min_bytes(std::size_t values) const noexcept {
    return do_max_bytes(values);
  }
  virtual std::size_t do_encode(Floats in, MutableBytes out, const Stream& stream,
                                std::uint64_t first_index) const = 0;
  virtual void do_decode(Bytes in, MutableFloats out, const Landing& landing) const = 0;
  virtual void do_quantize(Floats in, MutableFloats out, const Stream& stream,
                           std::uint64_t first_index) const;

  void check(Floats in, const Encoding& how) const;
  void quantize_by_bytes(Floats in, MutableFloats out, const Encoding& how) const;
  void decode_into(Bytes in, MutableFloats out, const Landing& landing) const;
  std::size_t encode_in_chunks(Floats in, MutableBytes out, const Encoding& how) const;
  std::size_t encode_chunk(Floats in, MutableBytes out, const Encoding& how,
                           MutableFloats scratch) const;
};

// One option of a codec, for parsing, listing and documentation.
struct Option {
  std::string_view key;
  std::string_view fallback;  // the default as text; empty: required, or derived from others
  std::string_view values;    // what it takes, e.g. "2..8,16" or "max|l2"
  std::string_view meaning;
  bool required = false;
};

class Options;  // codec/spec.hpp: the parsed options of one spec

// A codec exists when it has a row in codec/catalogue.cpp.
struct CodecRow {
  std::string_view name;
  std::string_view summary;
  std::span<const Option> options;
  std::span<const std::string_view> variants;  // specs worth listing, testing and measuring
  std::unique_ptr<Codec> (*make)(const Options&);
};

std::span<const CodecRow> codecs();

// What a spec may need to know of the tensor it is for.
struct TensorShape {
  std::optional<std::size_t> innermost;  // length of the innermost dimension, for `column=shape`
};

// Builds a codec from `name[:key=value,...]`. Unknown names, keys and values are Fault::usage, and
// the message lists the valid ones.
std::unique_ptr<Codec> make_codec(std::string_view spec, const TensorShape& shape = {});

}  // namespace narrowcast
