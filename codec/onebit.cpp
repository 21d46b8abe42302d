// 1-bit SGD (Seide et al., 2014): a sign, and the mean of each side of a column.
//
//   wire, per column:   mean below f32 | mean above f32 | bit [rows], 1 = below, lowest first, in
//                       whole words of 32 bits
//
// Good for:   32 times less than float32 on long columns, with error feedback.
// Bad for:    training without error feedback; columns of three values or fewer, which grow.
// column=64:  the EDBT 2018 study's reshaped variant, whatever the tensor's shape; column=shape is
//             the original: the innermost dimension of the tensor.
// Non-finite: the element decodes to a value that is not finite, as does all of its side of the
//             column.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/error.hpp"
#include "codec/blocks.hpp"
#include "codec/codec.hpp"
#include "codec/kernel/kernels.hpp"
#include "codec/spec.hpp"

namespace narrowcast {
namespace {

using Means = std::array<float, 2>;

class Onebit final : public Codec {
 public:
  Onebit(const Options& options, std::size_t column, kernel::Threshold threshold)
      : spec_(options.canonical()), column_(column), threshold_(threshold) {
    promise_.block = column;
    // A value and the mean of its side have the same sign; around another threshold they need not.
    promise_.of_block = (threshold == kernel::Threshold::zero ? 1 : 2) * (1 + 0x1p-15);
    promise_.largest = 0x1p120;  // sums of more overflow
    promise_.non_finite = NonFinite::block_not_finite;
  }

  const std::string& spec() const override { return spec_; }
  const Promise& promise() const override { return promise_; }

 private:
  static std::size_t word_bytes(std::size_t rows) { return (rows / 32 + (rows % 32 != 0)) * 4; }
  static std::size_t column_bytes(std::size_t rows) { return sizeof(Means) + word_bytes(rows); }

  std::size_t do_max_bytes(std::size_t values) const noexcept override {
    const std::size_t rest = values % column_;
    return values / column_ * column_bytes(column_) + (rest == 0 ? 0 : column_bytes(rest));
  }

  std::size_t do_encode(Floats in, MutableBytes out, const Stream&, std::uint64_t) const override {
    const auto encode = kernel::active().onebit_encode;
    MutableBytes rest = out;
    for (std::size_t begin = 0; begin < in.size(); begin += column_) {
      const Floats column = in.subspan(begin, std::min(column_, in.size() - begin));
      Means means;
      const MutableBytes bits = rest.subspan(sizeof means, word_bytes(column.size()));
      const std::size_t whole = (column.size() + 7) / 8;
      std::fill(bits.begin() + static_cast<std::ptrdiff_t>(whole), bits.end(), std::byte{0});
      encode(column.data(), column.size(), threshold_, means.data(),
             reinterpret_cast<std::uint8_t*>(bits.data()));
      // Of NaNs only one travels: which one a sum gives is the CPU's affair.
      for (float& mean : means)
        if (std::isnan(mean)) mean = kPoison;
      put(rest, means);
      rest = rest.subspan(sizeof means + bits.size());
    }
    return out.size() - rest.size();
  }

  void do_decode(Bytes in, MutableFloats out, const Landing& landing) const override {
    const auto decode = kernel::active().onebit_decode[landing.into];
    for (std::size_t begin = 0; begin < out.size(); begin += column_) {
      const MutableFloats column = out.subspan(begin, std::min(column_, out.size() - begin));
      auto means = get<Means>(in);
      const Bytes bits = in.subspan(sizeof means, word_bytes(column.size()));
      check_tail(bits, column.size());
      for (float& mean : means) mean *= landing.factor;
      decode(reinterpret_cast<const std::uint8_t*>(bits.data()), column.size(), means.data(),
             column.data());
      in = in.subspan(sizeof means + bits.size());
    }
  }

  static void check_tail(Bytes bits, std::size_t rows) {
    if (rows % 32 == 0) return;
    require(get<std::uint32_t>(bits.last(4)) >> (rows % 32) == 0, Fault::wire,
            "decode: padding bits are not zero");
  }

  std::string spec_;
  std::size_t column_;
  kernel::Threshold threshold_;
  Promise promise_;
};

}  // namespace

std::unique_ptr<Codec> make_onebit(const Options& options) {
  if (options.text("column") == "shape") {
    if (!options.shape().innermost) options.refuse("with column=shape needs the tensor's shape");
    // An empty tensor may have an innermost dimension of 0.
    options.resolve("column", std::to_string(std::max<std::size_t>(1, *options.shape().innermost)));
  }
  const auto column = static_cast<std::size_t>(options.integer("column", 1, std::int64_t{1} << 40));
  const auto threshold =
      options.word("threshold") == "mean" ? kernel::Threshold::mean : kernel::Threshold::zero;
  return std::make_unique<Onebit>(options, column, threshold);
}

}  // namespace narrowcast
