#include "tests/emulate/reference.hpp"

#include <cmath>
#include <memory>

#include "tests/support/check.hpp"
#include "tests/support/inputs.hpp"

namespace narrowcast::test {
namespace {

enum : std::uint64_t { kProduct, kSum, kAddend, kDifference, kRest };

class Reference {
 public:
  explicit Reference(const Problem& problem)
      : p_(problem), product_(make_codec(p_.product)), sum_(make_codec(p_.sum)) {}

  std::vector<float> run() {
    for (term_ = 0; term_ < p_.terms; ++term_) take(rounded(*product_, products(), kProduct));
    if (!p_.bias.empty()) take(biases());
    for (float& each : sum_so_far_) each += 0.0f;  // never -0
    return sum_so_far_;
  }

 private:
  void take(const std::vector<float>& term) {
    if (p_.compensation == Compensation::none) {
      sum_so_far_ = rounded(*sum_, combined(sum_so_far_, term, 1), kSum);
      return;
    }
    const auto addend = rounded(*sum_, combined(term, rest_, -1), kAddend);
    const auto next = rounded(*sum_, combined(sum_so_far_, addend, 1), kSum);
    const auto difference = rounded(*sum_, combined(next, sum_so_far_, -1), kDifference);
    rest_ = rounded(*sum_, combined(difference, addend, -1), kRest);
    for (float& each : rest_) each = std::isfinite(each) ? each : 0;
    sum_so_far_ = next;
  }

  std::vector<float> biases() const {
    std::vector<float> all;
    for (std::size_t i = 0; i < p_.rows; ++i) all.insert(all.end(), p_.bias.begin(), p_.bias.end());
    return all;
  }

  std::vector<float> products() const {
    std::vector<float> all;
    for (std::size_t i = 0; i < p_.rows; ++i)
      for (std::size_t j = 0; j < p_.columns; ++j)
        all.push_back(p_.a[i * p_.terms + term_] * p_.b[term_ * p_.columns + j]);
    return all;
  }

  static std::vector<float> combined(Floats x, Floats y, float sign) {
    std::vector<float> all;
    for (std::size_t i = 0; i < x.size(); ++i) all.push_back(x[i] + sign * y[i]);
    return all;
  }

  // NaN stays NaN, whatever the format makes of it.
  std::vector<float> rounded(const Codec& codec, const std::vector<float>& x, std::uint64_t turn) {
    std::vector<float> numbers = x;
    for (float& each : numbers)
      if (std::isnan(each)) each = 0;
    std::vector<float> near =
        codec.promise().bias ? by_dice(codec, numbers, turn) : round_trip(codec, numbers);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (std::isnan(x[i])) near[i] = x[i];
    return near;
  }

  // One value at a time, each at the index that it is given.
  std::vector<float> by_dice(const Codec& codec, Floats x, std::uint64_t turn) const {
    const Stream stream{.key = p_.stream.key, .salt = p_.stream.salt + turn};
    std::vector<float> near;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t row = i / p_.columns;
      const std::size_t column = i % p_.columns;
      const std::size_t line = row * ((p_.columns + 7) / 8) + column / 8;
      const std::size_t terms = p_.terms + (p_.bias.empty() ? 0 : 1);
      const std::size_t index = (line * ((terms + 7) / 8 * 8) + term_) * 8 + column % 8;
      const Encoding how{.stream = stream, .first_index = index};
      near.push_back(round_trip(codec, x.subspan(i, 1), how)[0]);
    }
    return near;
  }

  const Problem& p_;
  std::unique_ptr<Codec> product_;
  std::unique_ptr<Codec> sum_;
  std::vector<float> sum_so_far_ = std::vector<float>(p_.rows * p_.columns);
  std::vector<float> rest_ = sum_so_far_;
  std::size_t term_ = 0;
};

}  // namespace

Problem problem(std::size_t rows, std::size_t terms, std::size_t columns) {
  return {.rows = rows,
          .terms = terms,
          .columns = columns,
          .a = normal(rows * terms, 3),
          .b = normal(terms * columns, 4)};
}

std::vector<float> product_of(const Problem& problem, int threads) {
  const std::unique_ptr<Codec> product = make_codec(problem.product);
  const std::unique_ptr<Codec> sum = make_codec(problem.sum);
  std::vector<float> c(problem.rows * problem.columns, -1.0f);
  Team team(threads);
  gemm(row_major(problem.a, problem.rows, problem.terms),
       row_major(problem.b, problem.terms, problem.columns), c,
       {.product = product.get(),
        .sum = sum.get(),
        .compensation = problem.compensation,
        .stream = problem.stream,
        .bias = problem.bias},
       team);
  return c;
}

std::vector<float> reference(const Problem& problem) { return Reference(problem).run(); }

}  // namespace narrowcast::test
