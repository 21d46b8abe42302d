// QSGD with its levels in Elias' omega code, as Q17 describes it: only what is not zero is sent.
//
//   wire, per bucket:  scale f32 | omega(1 + k), then k times: omega(gap), sign bit, omega(|level|)
//                      | zeros up to the next byte
//   gap:               1 + the number of zero levels before this one
//
// Good for:   norm=l2 with few bits: most levels are 0, and about 3 bits a value remain, or less.
// Bad for:    speed, and dense levels, which take more room than fixed ones.
// Non-finite: the bucket has the scale NaN and k = 0, and decodes to NaN.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/error.hpp"
#include "codec/blocks.hpp"
#include "codec/dice.hpp"
#include "codec/elias.hpp"
#include "codec/qsgd.hpp"

namespace narrowcast {
namespace {

constexpr std::size_t kPart = DiceCup::kMost;

class QsgdElias final : public Codec {
 public:
  QsgdElias(std::string spec, const Qsgd& qsgd)
      : spec_(std::move(spec)), qsgd_(qsgd), promise_(qsgd.promise()) {
    promise_.fixed_size = false;
  }

  const std::string& spec() const override { return spec_; }
  const Promise& promise() const override { return promise_; }

 private:
  using Levels = std::vector<std::int16_t>;

  // A dense bucket is the worst: a longer gap costs less than the levels it replaces.
  std::size_t most_bytes(std::size_t values) const noexcept {
    const auto level = std::size_t{2} + static_cast<std::size_t>(
                                            omega_bits(static_cast<std::uint64_t>(qsgd_.levels())));
    const auto head = static_cast<std::size_t>(omega_bits(values + 1));
    return sizeof(float) + (values * level + head + 7) / 8;
  }

  std::size_t do_max_bytes(std::size_t values) const noexcept override {
    const std::size_t rest = values % qsgd_.bucket;
    return values / qsgd_.bucket * most_bytes(qsgd_.bucket) + (rest == 0 ? 0 : most_bytes(rest));
  }

  std::size_t do_min_bytes(std::size_t values) const noexcept override {
    return (values / qsgd_.bucket + (values % qsgd_.bucket != 0)) * (sizeof(float) + 1);
  }

  std::size_t do_encode(Floats in, MutableBytes out, const Stream& stream,
                        std::uint64_t first_index) const override {
    DiceCup dice(stream);
    Levels levels(std::min(qsgd_.bucket, in.size()));
    std::size_t used = 0;
    for (std::size_t begin = 0; begin < in.size(); begin += qsgd_.bucket) {
      const Floats bucket = in.subspan(begin, std::min(qsgd_.bucket, in.size() - begin));
      const float scale = qsgd_.scale_of(bucket);
      const std::span<std::int16_t> here = std::span(levels).first(bucket.size());
      std::fill(here.begin(), here.end(), std::int16_t{0});
      if (std::isfinite(scale) && scale > 0)
        quantise(bucket, scale, first_index + begin, dice, here);
      put(out.subspan(used), std::isfinite(scale) ? scale : kPoison);
      used += sizeof scale;
      used += write_levels(here, out.subspan(used));
    }
    return used;
  }

  void quantise(Floats bucket, float scale, std::uint64_t first_index, DiceCup& dice,
                std::span<std::int16_t> levels) const {
    const bool lift = scale < kTiny;
    std::array<float, kPart> lifted;
    for (std::size_t begin = 0; begin < bucket.size(); begin += kPart) {
      const std::size_t count = std::min(kPart, bucket.size() - begin);
      const float* x = bucket.data() + begin;
      if (lift) {
        kernel::active().scale(x, count, kLift, lifted.data());
        x = lifted.data();
      }
      kernel::active().stochastic16(x, count, qsgd_.inverse(lift ? scale * kLift : scale),
                                    qsgd_.levels(), dice.shake(first_index + begin, count),
                                    levels.data() + begin);
    }
  }

  static std::size_t write_levels(std::span<const std::int16_t> levels, MutableBytes out) {
    BitWriter writer(out);
    const auto zeros = std::count(levels.begin(), levels.end(), 0);
    writer.omega(1 + levels.size() - static_cast<std::size_t>(zeros));
    std::uint64_t gap = 1;
    for (const std::int16_t level : levels) {
      if (level == 0) {
        ++gap;
        continue;
      }
      writer.omega(gap);
      writer.bit(level < 0 ? 1 : 0);
      writer.omega(static_cast<std::uint64_t>(std::abs(level)));
      gap = 1;
    }
    return writer.finish();
  }

  void do_decode(Bytes in, MutableFloats out, const Landing& landing) const override {
    Levels levels(std::min(qsgd_.bucket, out.size()));
    for (std::size_t begin = 0; begin < out.size(); begin += qsgd_.bucket) {
      const std::size_t count = std::min(qsgd_.bucket, out.size() - begin);
      require(in.size() > sizeof(float), Fault::wire, "decode: message ends within a bucket");
      const auto scale = get<float>(in);
      check_scale(scale);
      in = in.subspan(sizeof scale);
      const std::span<std::int16_t> here = std::span(levels).first(count);
      in = in.subspan(read_levels(in, here));
      const MutableFloats values = out.subspan(begin, count);
      std::isnan(scale) ? poison(values) : land_levels(here, scale, values, landing);
    }
    require(in.empty(), Fault::wire, "decode: bytes left over after the last bucket");
  }

  // The factor after the values: speed is not what this coding is for.
  void land_levels(std::span<const std::int16_t> levels, float scale, MutableFloats out,
                   const Landing& landing) const {
    const kernel::Kernels& cpu = kernel::active();
    const float step = step_of(scale, qsgd_.levels());
    if (landing.factor == 1)
      return cpu.levels16[landing.into](levels.data(), out.size(), step, out.data());
    std::vector<float> values(out.size());
    cpu.levels16[Into::overwrite](levels.data(), out.size(), step, values.data());
    land(values, out, landing.into, landing.factor);
  }

  std::size_t read_levels(Bytes in, std::span<std::int16_t> levels) const {
    BitReader reader(in);
    std::fill(levels.begin(), levels.end(), std::int16_t{0});
    std::size_t at = 0;  // one past the last level read
    for (std::uint64_t left = reader.omega(levels.size() + 1) - 1; left > 0; --left) {
      require(at < levels.size(), Fault::wire, "decode: more levels than the bucket holds");
      at += reader.omega(levels.size() - at);
      const bool negative = reader.bit() == 1;
      const auto level = static_cast<int>(reader.omega(static_cast<std::uint64_t>(qsgd_.levels())));
      levels[at - 1] = static_cast<std::int16_t>(negative ? -level : level);
    }
    return reader.finish();
  }

  std::string spec_;
  Qsgd qsgd_;
  Promise promise_;
};

}  // namespace

std::unique_ptr<Codec> make_qsgd_elias(std::string spec, const Qsgd& qsgd) {
  return std::make_unique<QsgdElias>(std::move(spec), qsgd);
}

}  // namespace narrowcast
