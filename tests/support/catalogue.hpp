#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "codec/codec.hpp"

// Contract suites run over the whole catalogue: a new row or variant is tested the moment it
// exists.
namespace narrowcast::test {

// Every variant of every row, as the catalogue spells it.
std::vector<std::string> every_spec();

// Calls body(codec) for each of them; a failure inside names the spec and spares the others.
template <class Body>
void for_every_codec(Body body) {
  for (const std::string& spec : every_spec()) {
    SCOPED_TRACE(spec);
    try {
      const std::unique_ptr<Codec> codec = make_codec(spec);
      body(*codec);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

// Rounding is by dice.
inline bool is_stochastic(const Codec& codec) { return codec.promise().bias.has_value(); }

// A value's code depends on that value alone.
inline bool is_element_wise(const Codec& codec) {
  return codec.promise().of_block == 0 && codec.promise().block != 0;
}

}  // namespace narrowcast::test
