#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <span>

#include "base/bytes.hpp"

// Buffers as the extension takes them: numpy arrays, torch tensors and whatever else speaks DLPack
// or the buffer protocol. Arguments of these types are declared with noconvert(): nanobind would copy
// what does not fit, and results written to a copy are lost. Anything else is a TypeError then.
namespace narrowcast::python {

using FloatsIn =
    nanobind::ndarray<const float, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using FloatsOut =
    nanobind::ndarray<float, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

// Tensors may have values and no memory for them: torch's fake ones, and those known to be zero.
template <class Value>
std::span<Value> with_memory(Value* values, std::size_t count) {
  if (values == nullptr && count > 0)
    throw nanobind::type_error("an array has no memory for its values; give one that has");
  return {values, count};
}

// They borrow: the array must outlive them.
inline Floats span_of(const FloatsIn& array) { return with_memory(array.data(), array.size()); }
inline MutableFloats span_of(const FloatsOut& array) {
  return with_memory(array.data(), array.size());
}

}  // namespace narrowcast::python
