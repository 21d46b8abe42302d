#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "collective/conversation.hpp"

// Bytes of any length between two ranks, between the collectives of a conversation.
namespace narrowcast {

void send_letter(Conversation& group, int to, Bytes letter);
// One that is longer than `most` is Fault::wire, naming the rank.
std::vector<std::byte> receive_letter(Conversation& group, int from, std::size_t most);

void send_text(Conversation& group, int to, const std::string& text);
std::string receive_text(Conversation& group, int from, std::size_t most);

// What rank 0 says goes to all, and is returned by all.
std::string verdict(Conversation& group, const std::string& of_rank_0);

}  // namespace narrowcast
