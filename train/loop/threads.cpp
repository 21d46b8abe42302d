#include "train/loop/threads.hpp"

#include <ATen/Parallel.h>
#include <dlfcn.h>

namespace narrowcast {

void set_threads(int count) {
  at::set_num_threads(count);
  // OpenBLAS does not ask libtorch: it takes all cores, and its sums depend on how many there are.
  using Set = void (*)(int);
  if (const auto set = reinterpret_cast<Set>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads")))
    set(count);
}

std::string blas_kernels() {
  using Name = const char* (*)();
  const auto name = reinterpret_cast<Name>(dlsym(RTLD_DEFAULT, "openblas_get_corename"));
  return name != nullptr ? name() : "";
}

}  // namespace narrowcast
