#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "codec/codec.hpp"

namespace narrowcast {

enum class Norm { max, l2 };

// The options of QSGD, shared by its two ways to write levels.
struct Qsgd {
  int bits = 4;
  std::size_t bucket = 512;
  Norm norm = Norm::max;

  int levels() const { return (1 << (bits - 1)) - 1; }
  // What x is multiplied by before it is rounded to a level; includes the 2^16 of the kernels.
  float inverse(float scale) const { return static_cast<float>(levels()) * 65536.0f / scale; }
  float scale_of(Floats bucket) const;
  Promise promise() const;
};

// Levels in Elias' omega code: codec/qsgd_elias.cpp.
std::unique_ptr<Codec> make_qsgd_elias(std::string spec, const Qsgd& qsgd);

}  // namespace narrowcast
