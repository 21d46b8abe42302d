#pragma once

#include <cstdint>
#include <memory>

#include "codec/codec.hpp"

namespace narrowcast::python {

// How one tensor travels.
struct Way {
  std::shared_ptr<const Codec> codec;
  std::uint64_t seed = 0;
};

}  // namespace narrowcast::python
