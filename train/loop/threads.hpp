#pragma once

#include <string>

namespace narrowcast {

// Of everything that computes in this process.
void set_threads(int count);

// Kernels that OpenBLAS computes with, as it calls them; empty when something else multiplies matrices.
std::string blas_kernels();

}  // namespace narrowcast
