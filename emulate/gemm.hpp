#pragma once

#include <cstddef>

#include "base/bytes.hpp"
#include "base/random.hpp"
#include "base/team.hpp"
#include "codec/codec.hpp"

// Matrix products as a machine with narrow arithmetic would compute them: docs/emulate.md.
namespace narrowcast {

// Values in memory as rows and columns; the step is from one row, or column, to the next.
struct Matrix {
  Floats values;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t row_step = 0;
  std::size_t column_step = 1;
};

Matrix row_major(Floats values, std::size_t rows, std::size_t columns);
Matrix transposed(const Matrix& matrix);

// How partial sums are kept: as they are, or each with what its additions lost so far.
enum class Compensation { none, kahan };

struct Arithmetic {
  const Codec* product = nullptr;  // every product is rounded to this format,
  const Codec* sum = nullptr;      // and every sum to this one
  Compensation compensation = Compensation::none;
  Stream stream = {};  // the dice of stochastic formats
  Floats bias = {};    // one more addend for every sum of a column; empty: none
};

// c = a b, row-major. Each c starts from 0 and takes a's columns in ascending order, then the bias; an
// operation is that of float32, its result rounded to the format:
//
//   none:    p = P(a b);  s = S(s + p)
//   kahan:   p = P(a b);  y = S(p - r);  t = S(s + y);  r = S(S(t - s) - y);  s = t
//
// where p is the bias itself in its turn, and r is 0 from the moment it is not finite, so that overflow
// stays infinity. NaN stays NaN in every format, and no c is -0. Equal bits on every CPU target and for
// any number of threads. Fault::usage where sizes do not fit, or a codec does not round value by value to
// a float format. Allocates copies of a and b.
void gemm(const Matrix& a, const Matrix& b, MutableFloats c, const Arithmetic& how, Team& team);

}  // namespace narrowcast
