#include "emulate/gemm.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "codec/dice.hpp"
#include "codec/formats.hpp"
#include "emulate/kernel/tile.hpp"

namespace narrowcast {
namespace {

using emulated::Dice;
using emulated::kColumns;
using emulated::kRows;
using emulated::kSegment;
using emulated::kTurns;
using emulated::Reach;
using emulated::Tile;
using emulated::Turn;
using kernel::Format;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::size_t up_to_multiple(std::size_t n, std::size_t of) { return (n + of - 1) / of * of; }

// A NaN of any payload could carry into something else when it is rounded as an integer.
float plain(float x) { return std::isnan(x) ? kNan : x; }

// Kernels do not care for the sign of a zero.
float finished(float x) { return plain(x) + 0.0f; }

// Whether the last value that a matrix names is there; sizes of more than 2^64 are refused on the way.
bool fits(const Matrix& m) {
  if (m.rows == 0 || m.columns == 0) return true;
  std::size_t down = 0;
  std::size_t across = 0;
  std::size_t last = 0;
  return !__builtin_mul_overflow(m.rows - 1, m.row_step, &down) &&
         !__builtin_mul_overflow(m.columns - 1, m.column_step, &across) &&
         !__builtin_add_overflow(down, across, &last) && last < m.values.size();
}

Format format_for(const Codec* codec, const char* what) {
  if (codec == nullptr) throw Error(Fault::usage, fmt::format("gemm: no format for {}", what));
  const std::optional<Format> format = float_format(*codec);
  if (!format)
    throw Error(Fault::usage,
                fmt::format("gemm rounds {} value by value to a float format (float, e4m3, e5m2, "
                            "fp16, bf16, fp32), which {} does not",
                            what, codec->spec()));
  return *format;
}

void check(const Matrix& a, const Matrix& b, MutableFloats c, Floats bias) {
  if (a.columns != b.rows)
    throw Error(Fault::usage, fmt::format("gemm: {} x {} and {} x {} matrices have no product",
                                          a.rows, a.columns, b.rows, b.columns));
  require(fits(a) && fits(b), Fault::usage, "gemm: a matrix is larger than its values");
  std::size_t size = 0;
  require(!__builtin_mul_overflow(a.rows, b.columns, &size) && c.size() == size, Fault::usage,
          "gemm: the product needs rows(a) * columns(b) values");
  require(bias.empty() || bias.size() == b.columns, Fault::usage,
          "gemm: the bias needs columns(b) values");
}

// `lines` (rows of a, columns of b) in groups of `width`, each group term by term.
struct Lines {
  const float* values;
  std::size_t count;
  std::size_t terms;
  std::size_t line_step;
  std::size_t term_step;
};

// Returns the largest magnitude; NaN is larger than all.
float pack(const Lines& lines, std::size_t width, std::size_t group, float* out) {
  const std::size_t first = group * width;
  const std::size_t there = std::min(width, lines.count - first);
  std::uint32_t most = 0;
  for (std::size_t term = 0; term < lines.terms; ++term, out += width) {
    const float* from = lines.values + first * lines.line_step + term * lines.term_step;
    for (std::size_t i = 0; i < there; ++i) {
      out[i] = plain(from[i * lines.line_step]);
      most = std::max(most, std::bit_cast<std::uint32_t>(std::fabs(out[i])));
    }
    std::fill(out + there, out + width, 0.0f);
  }
  return std::bit_cast<float>(most);
}

// The part of [0, count) that belongs to a member of a team.
struct Range {
  std::size_t begin;
  std::size_t end;
};
Range share(std::size_t count, int member, int members) {
  const auto at = [&](int i) {
    const auto n = static_cast<std::size_t>(members);
    return count / n * static_cast<std::size_t>(i) + count % n * static_cast<std::size_t>(i) / n;
  };
  return {at(member), at(member + 1)};
}

class Gemm {
 public:
  Gemm(const Matrix& a, const Matrix& b, MutableFloats c, const Arithmetic& how)
      : rows_{a.values.data(), a.rows, a.columns, a.row_step, a.column_step},
        columns_{b.values.data(), b.columns, b.rows, b.column_step, b.row_step},
        c_(c),
        how_(how),
        add_(how.compensation == Compensation::kahan ? emulated::active().add_compensated
                                                     : emulated::active().add),
        product_(format_for(how.product, "products")),
        sum_(format_for(how.sum, "sums")),
        stochastic_(product_.rounding == kernel::Rounding::stochastic ||
                    sum_.rounding == kernel::Rounding::stochastic),
        row_groups_((a.rows + kRows - 1) / kRows),
        column_groups_((b.columns + kColumns - 1) / kColumns),
        a_(row_groups_ * kRows * a.columns),
        b_(column_groups_ * kColumns * a.columns),
        bias_(how.bias.empty() ? 0 : column_groups_ * kColumns),
        largest_a_(row_groups_),
        largest_b_(column_groups_) {}

  void run(Team& team) {
    team.run([&](int member) {
      const Range down = share(row_groups_, member, team.size());
      for (std::size_t i = down.begin; i < down.end; ++i)
        largest_a_[i] = pack(rows_, kRows, i, a_.data() + i * kRows * terms());
      const Range across = share(column_groups_, member, team.size());
      for (std::size_t j = across.begin; j < across.end; ++j)
        largest_b_[j] = pack(columns_, kColumns, j, b_.data() + j * kColumns * terms());
    });
    std::ranges::transform(how_.bias, bias_.begin(), plain);
    team.run([&](int member) {
      const std::unique_ptr<Dice> dice = stochastic_ ? std::make_unique<Dice>() : nullptr;
      const Range mine = share(row_groups_ * column_groups_, member, team.size());
      for (std::size_t tile = mine.begin; tile < mine.end; ++tile)
        compute(tile / column_groups_, tile % column_groups_, dice.get());
    });
  }

 private:
  std::size_t terms() const { return rows_.terms; }

  void compute(std::size_t row_group, std::size_t column_group, Dice* dice) const {
    const float* a = a_.data() + row_group * kRows * terms();
    const float* b = b_.data() + column_group * kColumns * terms();
    Tile tile;
    const std::size_t most = stochastic_ ? kSegment : terms();
    for (std::size_t first = 0; first < terms(); first += most) {
      const std::size_t count = std::min(most, terms() - first);
      if (stochastic_) throw_dice({row_group, column_group, first, count}, *dice);
      add_({.a = a + first * kRows,
            .b = b + first * kColumns,
            .count = count,
            .product = &product_,
            .sum = &sum_,
            .dice = dice,
            .reach = reach(row_group, column_group)},
           tile);
    }
    if (!bias_.empty()) add_bias(row_group, column_group, dice, tile);
    store(tile, row_group, column_group);
  }

  // One more term: the products of the bias and ones, which no format rounds.
  void add_bias(std::size_t row_group, std::size_t column_group, Dice* dice, Tile& tile) const {
    std::array<float, kRows> ones;
    ones.fill(1);
    if (stochastic_) throw_dice({row_group, column_group, terms(), 1}, *dice);
    add_({.a = ones.data(),
          .b = bias_.data() + column_group * kColumns,
          .count = 1,
          .product = &untouched_,
          .sum = &sum_,
          .dice = dice},
         tile);
  }

  // Not a number, and so beyond, where a value is.
  Reach reach(std::size_t row_group, std::size_t column_group) const {
    const double most =
        static_cast<double>(largest_a_[row_group]) * static_cast<double>(largest_b_[column_group]);
    return most <= static_cast<double>(product_.limit) ? Reach::within : Reach::beyond;
  }

  struct Part {
    std::size_t row_group;
    std::size_t column_group;
    std::size_t first;  // term
    std::size_t count;
  };

  // The dice of a rounding are those of its turn's stream at an index that rows, column groups, terms
  // and columns count up, the last ones fastest; rows begin at multiples of 8 terms.
  void throw_dice(const Part& part, Dice& dice) const {
    const std::size_t padded = up_to_multiple(terms() + (bias_.empty() ? 0 : 1), 8);
    const std::size_t turns = how_.compensation == Compensation::kahan ? kTurns : 2;
    for (std::size_t turn = 0; turn < turns; ++turn) {
      const Format& format = turn == static_cast<std::size_t>(Turn::product) ? product_ : sum_;
      if (format.rounding != kernel::Rounding::stochastic) continue;
      DiceCup cup({.key = how_.stream.key, .salt = how_.stream.salt + turn});
      for (std::size_t row = 0; row < kRows; ++row) {
        const std::size_t line =
            (part.row_group * kRows + row) * column_groups_ + part.column_group;
        const std::uint16_t* bits =
            cup.shake((line * padded + part.first) * kColumns, part.count * kColumns);
        std::copy_n(bits, part.count * kColumns, dice[turn][row].data());
      }
    }
  }

  void store(const Tile& tile, std::size_t row_group, std::size_t column_group) const {
    const std::size_t columns = columns_.count;
    const std::size_t first = column_group * kColumns;
    for (std::size_t i = 0; i < kRows && row_group * kRows + i < rows_.count; ++i)
      for (std::size_t j = 0; j < kColumns && first + j < columns; ++j)
        c_[(row_group * kRows + i) * columns + first + j] = finished(tile.sum[i][j]);
  }

  Lines rows_;
  Lines columns_;
  MutableFloats c_;
  const Arithmetic& how_;
  void (*add_)(const emulated::Terms& terms, Tile& tile);
  Format product_;
  Format sum_;
  Format untouched_ = kernel::format_of({});  // float32
  bool stochastic_;
  std::size_t row_groups_;
  std::size_t column_groups_;
  std::vector<float> a_;
  std::vector<float> b_;
  std::vector<float> bias_;
  std::vector<float> largest_a_;  // by group
  std::vector<float> largest_b_;
};

}  // namespace

Matrix row_major(Floats values, std::size_t rows, std::size_t columns) {
  return {.values = values, .rows = rows, .columns = columns, .row_step = columns};
}

Matrix transposed(const Matrix& matrix) {
  return {.values = matrix.values,
          .rows = matrix.columns,
          .columns = matrix.rows,
          .row_step = matrix.column_step,
          .column_step = matrix.row_step};
}

void gemm(const Matrix& a, const Matrix& b, MutableFloats c, const Arithmetic& how, Team& team) {
  check(a, b, c, how.bias);
  Gemm(a, b, c, how).run(team);
}

}  // namespace narrowcast
