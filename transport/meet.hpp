#pragma once

#include <cstddef>
#include <vector>

#include "transport/transport.hpp"

namespace narrowcast {

// Channels of what ranks tell each other before anything else.
inline constexpr Channel kGreetingChannel = kFirstReservedChannel + 0x100;
inline constexpr Channel kConfirmationChannel = kFirstReservedChannel + 0x101;
inline constexpr Channel kAgreementChannel = kFirstReservedChannel + 0x102;

using Letters = std::vector<std::vector<std::byte>>;  // by rank; one's own is empty

// Every rank sends a letter to every other and gets theirs. `most` bounds their length. One's own
// letters have left when it returns, so a rank that leaves for what it reads here takes nothing
// away from the others. Once for each transport and channel.
Letters meet(Transport& net, Channel channel, const Letters& letters, std::size_t most);

}  // namespace narrowcast
