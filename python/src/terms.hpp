#pragma once

#include <cstddef>
#include <string>

#include "base/bytes.hpp"
#include "collective/collective.hpp"

// Ranks that call for different things are told so, before bytes of one are taken for the other's. The
// terms of a call are words: "all_reduce of 50 values as dynamic8, direct, sum, seed 0".
namespace narrowcast::python {

// All ranks compare the terms of a collective: a checksum, in the rounds of all_max; the words travel
// only where they differ. Fault::peer on every rank then, which names one that differs; the
// conversation can go on.
void agree_on(const std::string& terms, Conversation& group);

// Sends terms ahead of what send_receive() sends, whose messages these are.
void announce(int to, const std::string& terms, const Traffic& traffic, Conversation& group);

// Receives them. Where they are others, what they announce is received too and dropped: Fault::peer,
// and the conversation can go on.
void expect(int from, const std::string& terms, Conversation& group);

}  // namespace narrowcast::python
