#pragma once

#include <string>
#include <string_view>

namespace narrowcast {

// OpenBLAS chooses its kernels by the model number of the CPU. One that came out after it was made, it
// takes for a CPU of 2004 without AVX, and a step takes three times as long (measured: Debian 12's 0.3.21
// on Emerald Rapids, 36 ms instead of 11). What the instructions of such a CPU allow is said to it by its
// own variable OPENBLAS_CORETYPE; where that is set already, or OpenBLAS knows the CPU, nothing is done.
//
// To be called before libtorch is loaded, which brings OpenBLAS, and before there are threads. Returns the
// kernels that OpenBLAS was told to take; empty when it needed nothing, or is not there.
std::string tell_openblas();

enum class Instructions { below_avx2, avx2, avx512 };

// Kernels worth more than those of `core`, the name of what OpenBLAS chose; empty when there are none.
std::string_view better_kernels(std::string_view core, Instructions has);

}  // namespace narrowcast
