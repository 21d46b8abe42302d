#pragma once

#include <string>
#include <vector>

#include "emulate/gemm.hpp"

namespace narrowcast::test {

struct Problem {
  std::size_t rows = 0;
  std::size_t terms = 0;
  std::size_t columns = 0;
  std::vector<float> a = {};  // row-major
  std::vector<float> b = {};
  std::string product = "fp32";
  std::string sum = "fp32";
  Compensation compensation = Compensation::none;
  Stream stream = {};
  std::vector<float> bias = {};
};

// Matrices of normal values.
Problem problem(std::size_t rows, std::size_t terms, std::size_t columns);

std::vector<float> product_of(const Problem& problem, int threads = 1);

// The same from the definition in emulate/gemm.hpp, for whole matrices term by term, with codecs that
// go by their bytes.
std::vector<float> reference(const Problem& problem);

}  // namespace narrowcast::test
