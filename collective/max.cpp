// Dissemination: in round k every rank tells the one 2^k places ahead what it knows. A maximum may be
// taken over the same rank twice, so any number of ranks is done after log2 of it, rounded up.
#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "base/error.hpp"
#include "collective/collective.hpp"

namespace narrowcast {

void all_max(std::span<std::uint8_t> values, Conversation& group) {
  if (values.empty()) return;
  const Span span(group, Work::wire);
  const MutableBytes theirs = group.scratch(values.size());
  const int ranks = group.size();
  for (int distance = 1; distance < ranks; distance *= 2) {
    const int to = (group.rank() + distance) % ranks;
    const int from = (group.rank() + ranks - distance) % ranks;
    Ticket coming = group.net().receive(group.next_from(from, 0), theirs);
    Ticket leaving = group.net().send(group.next_to(to, 0), std::as_bytes(values));
    const std::size_t length = coming.wait().length;
    leaving.wait();
    if (length != values.size())
      throw Error(Fault::wire, fmt::format("from rank {}: {} bytes where {} were due", from, length,
                                           values.size()));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::max(values[i], std::to_integer<std::uint8_t>(theirs[i]));
  }
}

Traffic all_max_traffic(std::size_t values, int ranks) {
  const auto rounds =
      values == 0 ? std::size_t{0}
                  : static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(ranks) - 1));
  return {{{.rounds = rounds, .messages = rounds, .bytes = rounds * values}}};
}

}  // namespace narrowcast
