#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/random.hpp"
#include "codec/codec.hpp"
#include "codec/kernel/codebook.hpp"
#include "codec/kernel/format.hpp"

// What codecs ask of the CPU: one table of functions for each target. The scalar table is the
// specification; every other one gives the same bits. Nothing here checks its arguments.
namespace narrowcast::kernel {

// What divides the two sides of a column of 1-bit SGD.
enum class Threshold { zero, mean };

// A function for each Into: [0] overwrites, [1] adds.
template <class Function>
struct ByInto {
  Function* overwrite = nullptr;
  Function* sum = nullptr;
  Function* operator[](Into into) const { return into == Into::sum ? sum : overwrite; }
};

// An OCP MX format: 32 elements share a power of two.
struct MxFormat {
  Format element;  // ignored when `integer`
  bool integer;    // MXINT8
  int emax;        // exponent of the element format's largest value
  bool ceil;       // the shared exponent is rounded up so that no element saturates
  double largest;  // of the element format
};
inline constexpr std::size_t kMxBlock = 32;

struct Kernels {
  std::string_view target;

  // --- vectors ---
  // The largest magnitude, compared as integers, so that NaN sorts above infinity and is never
  // lost.
  float (*absmax)(const float* x, std::size_t n);
  // The sum of squares, in double over eight interleaved lanes that are added up in a fixed order.
  double (*squares)(const float* x, std::size_t n);
  void (*scale)(const float* x, std::size_t n, float factor, float* out);
  void (*add_scaled)(const float* x, std::size_t n, float factor, float* sum);
  // residual -= decoded; where that is not finite the residual becomes 0.
  void (*settle)(const float* decoded, std::size_t n, float* residual);

  // --- randomness: base/random.hpp's random16 for whole groups of kRandomGroup indices ---
  void (*random16)(const Stream& stream, std::uint64_t first_group, std::size_t groups,
                   std::uint16_t* out);

  // --- one byte by codebook ---
  void (*codebook_encode)(const float* x, std::size_t n, float inverse, const Codebook& book,
                          std::uint8_t* codes);
  // out = table[code], for 256 floats.
  ByInto<void(const std::uint8_t* codes, std::size_t n, const float* table, float* out)> lookup;

  // --- levels: evenly spaced values ---
  // Nearest level of x * inverse, at most 127 in magnitude, as sign bit and magnitude.
  void (*linear_encode)(const float* x, std::size_t n, float inverse, std::uint8_t* codes);
  ByInto<void(const std::uint8_t* codes, std::size_t n, float step, float* out)> linear_decode;
  // Stochastic rounding in fixed point: (round(x * inverse) + random) >> 16, clamped to +-limit;
  // `inverse` includes the factor 2^16.
  void (*stochastic8)(const float* x, std::size_t n, float inverse, int limit,
                      const std::uint16_t* random, std::int8_t* levels);
  void (*stochastic16)(const float* x, std::size_t n, float inverse, int limit,
                       const std::uint16_t* random, std::int16_t* levels);
  ByInto<void(const std::int8_t* levels, std::size_t n, float step, float* out)> levels8;
  ByInto<void(const std::int16_t* levels, std::size_t n, float step, float* out)> levels16;

  // --- floating-point formats ---
  // `random` is used by Rounding::stochastic alone.
  void (*format8_encode)(const float* x, std::size_t n, const Format& format,
                         const std::uint16_t* random, std::uint8_t* codes);
  void (*format16_encode)(const float* x, std::size_t n, const Format& format,
                          const std::uint16_t* random, std::uint16_t* codes);
  void (*format32_encode)(const float* x, std::size_t n, const Format& format,
                          const std::uint16_t* random, std::uint32_t* codes);
  ByInto<void(const std::uint8_t*, std::size_t n, const Format&, float factor, float* out)>
      format8_decode;
  ByInto<void(const std::uint16_t*, std::size_t n, const Format&, float factor, float* out)>
      format16_decode;
  ByInto<void(const std::uint32_t*, std::size_t n, const Format&, float factor, float* out)>
      format32_decode;

  // What decoding gives of what encoding makes; out may be x itself.
  void (*format_round)(const float* x, std::size_t n, const Format& format,
                       const std::uint16_t* random, float* out);

  // --- MX: `blocks` whole blocks of 32 values; one scale byte and 32 codes of one byte each ---
  void (*mx_encode)(const float* x, std::size_t blocks, const MxFormat& format,
                    std::uint8_t* scales, std::uint8_t* codes);
  ByInto<void(const std::uint8_t* scales, const std::uint8_t* codes, std::size_t blocks,
              const MxFormat& format, float factor, float* out)>
      mx_decode;

  // --- packing: codes of one byte into `width` bits each, lowest bits first, and back ---
  void (*pack)(const std::uint8_t* codes, std::size_t n, int width, std::uint8_t* out);
  void (*unpack)(const std::uint8_t* in, std::size_t n, int width, std::uint8_t* codes);
  // The same for codes in two's complement, whose sign is extended.
  void (*unpack_signed)(const std::uint8_t* in, std::size_t n, int width, std::int8_t* codes);

  // Whether a code is among those of a message: for the codes that no encoder writes.
  bool (*contains8)(const std::uint8_t* codes, std::size_t n, std::uint8_t code);
  bool (*contains16)(const std::uint16_t* codes, std::size_t n, std::uint16_t code);

  // --- signs ---
  // One column: the two means (negative side first) and a bit for each value, 1 = negative side.
  void (*onebit_encode)(const float* x, std::size_t n, Threshold threshold, float* means,
                        std::uint8_t* bits);
  ByInto<void(const std::uint8_t* bits, std::size_t n, const float* means, float* out)>
      onebit_decode;
  // Natural compression: a sign bit and an exponent byte for each value.
  void (*natural_encode)(const float* x, std::size_t n, const std::uint16_t* random,
                         std::uint8_t* signs, std::uint8_t* exponents);
  ByInto<void(const std::uint8_t* signs, const std::uint8_t* exponents, std::size_t n, float factor,
              float* out)>
      natural_decode;
};

// The table in use, see codec/target.hpp.
const Kernels& active();

// Each family of kernels fills its part of a table. The simd ones give what Highway's current
// choice of target compiled; codec/target.cpp steers that choice.
void scalar_vectors(Kernels& table);
void scalar_levels(Kernels& table);
void scalar_formats(Kernels& table);
void scalar_signs(Kernels& table);
void simd_vectors(Kernels& table);
void simd_levels(Kernels& table);
void simd_formats(Kernels& table);
void simd_signs(Kernels& table);

}  // namespace narrowcast::kernel
