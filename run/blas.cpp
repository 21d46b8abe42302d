#include "run/blas.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace narrowcast {
namespace {

constexpr const char* kVariable = "OPENBLAS_CORETYPE";

// Names of OpenBLAS for kernels with AVX2 or AVX-512. Any other it has is older than these.
constexpr std::array<std::string_view, 6> kModern = {"Haswell",  "Zen",        "Excavator",
                                                     "SkylakeX", "Cooperlake", "SapphireRapids"};

Instructions instructions() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    return Instructions::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Instructions::avx2;
  return Instructions::below_avx2;
}

// Loaded and let go again: it looks at its variable while it is loaded, and only then.
std::string chosen_core() {
  void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {};
  using Name = const char* (*)();
  const auto name = reinterpret_cast<Name>(dlsym(library, "openblas_get_corename"));
  std::string core = name != nullptr ? name() : "";
  dlclose(library);
  return core;
}

}  // namespace

std::string_view better_kernels(std::string_view core, Instructions has) {
  if (core.empty() || has == Instructions::below_avx2) return {};
  const auto same = [&](std::string_view modern) {
    return std::equal(core.begin(), core.end(), modern.begin(), modern.end(), [](char a, char b) {
      return (a | 0x20) == (b | 0x20);  // releases differ in the case of a name
    });
  };
  if (std::any_of(kModern.begin(), kModern.end(), same)) return {};
  return has == Instructions::avx512 ? "SkylakeX" : "Haswell";
}

std::string tell_openblas() {
  if (const char* said = std::getenv(kVariable); said != nullptr && *said != '\0') return {};
  std::string kernels(better_kernels(chosen_core(), instructions()));
  if (!kernels.empty()) setenv(kVariable, kernels.c_str(), 1);
  return kernels;
}

}  // namespace narrowcast
