#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

// Formats of one byte that are a list of values rather than a formula.
namespace narrowcast::kernel {

// How the codes of the values follow each other outward from zero; vector kernels count in ranks
// (0 = innermost) and turn them into codes at the end.
enum class CodeOrder {
  sign_magnitude,  // sign bit and rank
  dynamic_tree,    // sign bit and pattern: rank 0 is 0, rank 127 is 1, the others are rank + 1
  ascending,       // codes ascend from the most negative value to the largest
};

enum class Sign { positive, negative };

class Codebook {
 public:
  // The values on one side of zero, from the innermost outward. Value i is chosen when
  // thresholds[i - 1] < |x| <= thresholds[i]; the last one has no threshold.
  struct Side {
    std::vector<std::uint8_t> codes;
    std::vector<float> thresholds;  // ascending, one fewer than codes
  };

  Codebook(const std::array<float, 256>& values, Side positive, Side negative, CodeOrder order);

  const std::array<float, 256>& values() const { return values_; }  // by code
  const Side& side(Sign sign) const { return sign == Sign::negative ? negative_ : positive_; }
  CodeOrder order() const { return order_; }

  // Cells: the float32 line cut by its top bits (sign, exponent, first mantissa bits), just so
  // finely that a cell holds at most one threshold. An entry is the threshold's low bits, placed at
  // the top but one, over a step and the byte of the rank below it:
  //   rank byte = low byte + (low bits of x, placed alike, > entry ? step : 0)
  // The step is 1, except for `ascending`, where it stands above the byte and the byte is the code,
  // complemented on the negative side so that outward is upward.
  int low_bits() const { return low_bits_; }
  int place() const { return 31 - low_bits_; }
  static constexpr int kStepPlace = 8;
  const std::uint32_t* cells() const { return cells_.data(); }

 private:
  int widest_cells() const;
  void fill_cells(Sign sign);

  std::array<float, 256> values_;
  Side positive_;
  Side negative_;
  CodeOrder order_;
  int low_bits_;
  std::vector<std::uint32_t> cells_;
};

}  // namespace narrowcast::kernel
