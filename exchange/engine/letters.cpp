#include "exchange/engine/letters.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.hpp"

namespace narrowcast {
namespace {

constexpr int kLane = 1;
constexpr std::size_t kPart = std::size_t{1} << 20;
constexpr std::size_t kLongestVerdict = std::size_t{1} << 16;

// Calls each(begin, bytes) for the parts that a letter travels in.
template <class Each>
void for_parts(std::size_t bytes, const Each& each) {
  for (std::size_t begin = 0; begin < bytes; begin += kPart)
    each(begin, std::min(kPart, bytes - begin));
}

void expect_length(int from, std::size_t length, std::size_t due) {
  if (length != due)
    throw Error(Fault::wire,
                fmt::format("from rank {}: {} bytes where {} were due", from, length, due));
}

}  // namespace

void send_letter(Conversation& group, int to, Bytes letter) {
  const std::uint64_t length = letter.size();
  std::vector<Ticket> tickets;
  tickets.push_back(
      group.net().send(group.next_to(to, kLane), std::as_bytes(std::span(&length, 1))));
  for_parts(letter.size(), [&](std::size_t begin, std::size_t bytes) {
    tickets.push_back(group.net().send(group.next_to(to, kLane), letter.subspan(begin, bytes)));
  });
  for (Ticket& ticket : tickets) ticket.wait();
}

std::vector<std::byte> receive_letter(Conversation& group, int from, std::size_t most) {
  std::uint64_t length = 0;
  Ticket first = group.net().receive(group.next_from(from, kLane),
                                     std::as_writable_bytes(std::span(&length, 1)));
  expect_length(from, first.wait().length, sizeof length);
  if (length > most)
    throw Error(Fault::wire,
                fmt::format("from rank {}: {} bytes where {} fit", from, length, most));
  std::vector<std::byte> letter(length);
  std::vector<Ticket> tickets;
  for_parts(letter.size(), [&](std::size_t begin, std::size_t bytes) {
    tickets.push_back(group.net().receive(group.next_from(from, kLane),
                                          MutableBytes(letter).subspan(begin, bytes)));
  });
  std::size_t came = 0;
  for (Ticket& ticket : tickets) came += ticket.wait().length;
  expect_length(from, came, length);
  return letter;
}

void send_text(Conversation& group, int to, const std::string& text) {
  send_letter(group, to, std::as_bytes(std::span(text)));
}

std::string receive_text(Conversation& group, int from, std::size_t most) {
  const std::vector<std::byte> letter = receive_letter(group, from, most);
  std::string text(letter.size(), '\0');
  copy(letter, std::as_writable_bytes(std::span(text)));
  return text;
}

std::string verdict(Conversation& group, const std::string& of_rank_0) {
  if (group.rank() != 0) return receive_text(group, 0, kLongestVerdict);
  std::string text = of_rank_0.substr(0, kLongestVerdict);
  for (int peer = 1; peer < group.size(); ++peer) send_text(group, peer, text);
  return text;
}

}  // namespace narrowcast
