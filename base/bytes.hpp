#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace narrowcast {

using Floats = std::span<const float>;
using MutableFloats = std::span<float>;
using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

// Everything that leaves the machine is little-endian, and so is every machine we build for.
static_assert(std::endian::native == std::endian::little);

template <class T>
concept Plain = std::is_trivially_copyable_v<T>;

// Writes `value` at the start of `out` and returns what follows it. The caller sized `out`.
template <Plain T>
MutableBytes put(MutableBytes out, const T& value) {
  std::memcpy(out.data(), &value, sizeof value);
  return out.subspan(sizeof value);
}

// Reads a T from the start of `in`. The caller checked the size.
template <Plain T>
T get(Bytes in) {
  T value;
  std::memcpy(&value, in.data(), sizeof value);
  return value;
}

// memcpy that allows empty spans, whose data() may be null.
inline void copy(Bytes from, MutableBytes to) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

}  // namespace narrowcast
