#pragma once

#include "base/team.hpp"
#include "codec/codec.hpp"

// The same bytes and values as Codec's own functions, made by all threads of a team: the input is
// cut at block borders. Codecs that may not be cut, or whose size varies, run on one thread.
namespace narrowcast {

std::size_t encode(const Codec& codec, Floats in, MutableBytes out, const Encoding& how,
                   Team& team);
void decode(const Codec& codec, Bytes in, MutableFloats out, int exponent, Team& team);
void accumulate(const Codec& codec, Bytes in, MutableFloats sum, int exponent, Team& team);

}  // namespace narrowcast
