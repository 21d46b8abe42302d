// Natural compression (Horvath et al., 2019): powers of two, at random and without bias.
//
//   wire, per block of 64:   sign bits, lowest first | exponent u8 [count], that of float32
//   exponent 0 is zero, 255 infinity; minus zero stands for NaN
//
// Good for:   the range of float32 in 9 bits, with no scale and no maximum to find.
// Bad for:    precision: a value is off by up to its own size, by an eighth of it on average.
// Why 64:     signs of a block are one word; a block is cut anywhere the tensor is.
// Non-finite: exact. Beyond 2^127 finite values become 2^127.
#include <algorithm>

#include "codec/blocks.hpp"
#include "codec/codec.hpp"
#include "codec/dice.hpp"
#include "codec/kernel/kernels.hpp"
#include "codec/spec.hpp"

namespace narrowcast {
namespace {

constexpr std::size_t kBlock = 64;

class Natural final : public Codec {
 public:
  explicit Natural(const Options& options) : spec_(options.canonical()) {
    promise_.block = kBlock;
    promise_.of_value = 1;
    promise_.absolute = 0x1p-126;
    promise_.largest = 0x1p127;
    promise_.bias = 0x1p-17;
  }

  const std::string& spec() const override { return spec_; }
  const Promise& promise() const override { return promise_; }

 private:
  static std::size_t sign_bytes(std::size_t values) { return (values + 7) / 8; }

  std::size_t do_max_bytes(std::size_t values) const noexcept override {
    return values + values / kBlock * (kBlock / 8) + sign_bytes(values % kBlock);
  }

  std::size_t do_encode(Floats in, MutableBytes out, const Stream& stream,
                        std::uint64_t first_index) const override {
    DiceCup dice(stream);
    auto* to = reinterpret_cast<std::uint8_t*>(out.data());
    for (std::size_t begin = 0; begin < in.size(); begin += DiceCup::kMost) {
      Floats part = in.subspan(begin, std::min(DiceCup::kMost, in.size() - begin));
      const std::uint16_t* random = dice.shake(first_index + begin, part.size());
      for (; !part.empty(); random += kBlock) {
        const std::size_t count = std::min(kBlock, part.size());
        std::uint8_t* exponents = to + sign_bytes(count);
        kernel::active().natural_encode(part.data(), count, random, to, exponents);
        part = part.subspan(count);
        to = exponents + count;
      }
    }
    return do_max_bytes(in.size());
  }

  void do_decode(Bytes in, MutableFloats out, const Landing& landing) const override {
    const auto* from = reinterpret_cast<const std::uint8_t*>(in.data());
    const auto decode = kernel::active().natural_decode[landing.into];
    for (std::size_t begin = 0; begin < out.size(); begin += kBlock) {
      const std::size_t count = std::min(kBlock, out.size() - begin);
      const std::uint8_t* exponents = from + sign_bytes(count);
      check_padding(in.first(sign_bytes(count)), count, 1);
      in = in.subspan(sign_bytes(count) + count);
      decode(from, exponents, count, landing.factor, out.data() + begin);
      from = exponents + count;
    }
  }

  std::string spec_;
  Promise promise_;
};

}  // namespace

std::unique_ptr<Codec> make_natural(const Options& options) {
  return std::make_unique<Natural>(options);
}

}  // namespace narrowcast
