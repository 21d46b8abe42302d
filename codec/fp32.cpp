// float32 as it is: the yardstick of every other codec, and what small tensors travel in.
//
//   wire:   f32 per value
//
// Good for:   tensors too small to be worth compressing; comparison.
// Non-finite: exact, to the bit.
#include <algorithm>
#include <array>

#include "codec/blocks.hpp"
#include "codec/codec.hpp"
#include "codec/spec.hpp"

namespace narrowcast {
namespace {

class Fp32 final : public Codec {
 public:
  explicit Fp32(const Options& options) : spec_(options.canonical()) {}
  const std::string& spec() const override { return spec_; }
  const Promise& promise() const override { return promise_; }

 private:
  std::size_t do_max_bytes(std::size_t values) const noexcept override {
    return values * sizeof(float);
  }

  std::size_t do_encode(Floats in, MutableBytes out, const Stream&, std::uint64_t) const override {
    copy(std::as_bytes(in), out);
    return in.size_bytes();
  }

  void do_decode(Bytes in, MutableFloats out, const Landing& landing) const override {
    if (landing.into == Into::overwrite && landing.factor == 1)
      return copy(in, std::as_writable_bytes(out));
    std::array<float, 1024> part;  // a message need not be aligned
    for (std::size_t begin = 0; begin < out.size(); begin += part.size()) {
      const std::size_t count = std::min(part.size(), out.size() - begin);
      copy(in.subspan(begin * sizeof(float), count * sizeof(float)),
           std::as_writable_bytes(std::span(part)));
      land(Floats(part).first(count), out.subspan(begin, count), landing.into, landing.factor);
    }
  }

  std::string spec_;
  Promise promise_;
};

}  // namespace

std::unique_ptr<Codec> make_fp32(const Options& options) { return std::make_unique<Fp32>(options); }

}  // namespace narrowcast
