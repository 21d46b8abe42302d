// What is sent ahead is a Notice and the beginning of the terms, which is there to be shown.
#include "python/src/terms.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/checksum.hpp"
#include "base/error.hpp"

namespace narrowcast::python {
namespace {

constexpr int kMessages = 0;  // the lane of send_receive()
constexpr int kNotices = 1;
constexpr std::size_t kShown = 240;

struct Notice {
  std::uint64_t digest = 0;    // of all of the terms
  std::uint64_t messages = 0;  // that follow
  std::uint64_t bytes = 0;     // no message is longer
};

std::uint64_t digest_of(const std::string& terms) {
  return checksum(std::as_bytes(std::span(terms)));
}

std::vector<std::byte> write(const std::string& terms, const Traffic& traffic) {
  const Notice notice{digest_of(terms), traffic.messages(), traffic.bytes()};
  const Bytes head = std::as_bytes(std::span(&notice, 1));
  const Bytes words = std::as_bytes(std::span(terms)).first(std::min(terms.size(), kShown));
  std::vector<std::byte> letter(head.begin(), head.end());
  letter.insert(letter.end(), words.begin(), words.end());
  return letter;
}

struct Received {
  Notice notice;
  std::string shown;
};

// A peer's notice, while it is on its way.
class Coming {
 public:
  Coming(int from, Conversation& group)
      : from_(from),
        buffer_(sizeof(Notice) + kShown),
        ticket_(group.net().receive(group.next_from(from, kNotices), buffer_)) {}

  Received wait() {
    const std::size_t length = ticket_.wait().length;
    if (length < sizeof(Notice))
      throw Error(Fault::wire,
                  fmt::format("from rank {}: {} bytes that announce nothing", from_, length));
    const Bytes words = Bytes(buffer_).first(length).subspan(sizeof(Notice));
    std::string shown(words.size(), '\0');
    copy(words, std::as_writable_bytes(std::span(shown)));
    std::ranges::replace_if(
        shown, [](char c) { return c < 0x20 || c > 0x7e; }, '?');
    return {get<Notice>(buffer_), shown};
  }

 private:
  int from_;
  std::vector<std::byte> buffer_;
  Ticket ticket_;
};

// Whether all ranks have the same digest. Where one has not, the largest and the smallest of a byte
// differ, and every rank finds it.
bool all_equal(std::uint64_t digest, Conversation& group) {
  std::array<std::uint64_t, 2> stamps = {digest, ~digest};
  all_max({reinterpret_cast<std::uint8_t*>(stamps.data()), sizeof stamps}, group);
  return stamps[0] == ~stamps[1];
}

void drop(int from, const Notice& notice, Conversation& group) {
  // Not touched but by what comes: an announcement alone takes no memory.
  const auto place = std::make_unique_for_overwrite<std::byte[]>(notice.bytes);
  for (std::uint64_t i = 0; i < notice.messages; ++i)
    group.net().receive(group.next_from(from, kMessages), {place.get(), notice.bytes}).wait();
}

}  // namespace

void agree_on(const std::string& terms, Conversation& group) {
  if (all_equal(digest_of(terms), group)) return;
  const std::vector<std::byte> own = write(terms, {});
  std::vector<Coming> coming;
  std::vector<Ticket> leaving;
  for (int peer = 0; peer < group.size(); ++peer) {
    if (peer == group.rank()) continue;
    coming.emplace_back(peer, group);
    leaving.push_back(group.net().send(group.next_to(peer, kNotices), own));
  }
  std::string found;
  for (int peer = 0; peer < group.size(); ++peer) {
    if (peer == group.rank()) continue;
    const Received theirs = coming[peer < group.rank() ? peer : peer - 1].wait();
    if (found.empty() && theirs.notice.digest != digest_of(terms))
      found =
          fmt::format("rank {} differs in its call: {} there, {} here", peer, theirs.shown, terms);
  }
  for (Ticket& ticket : leaving) ticket.wait();
  throw Error(Fault::peer, found);
}

void announce(int to, const std::string& terms, const Traffic& traffic, Conversation& group) {
  const std::vector<std::byte> notice = write(terms, traffic);
  group.net().send(group.next_to(to, kNotices), notice).wait();
}

void expect(int from, const std::string& terms, Conversation& group) {
  const Received theirs = Coming(from, group).wait();
  if (theirs.notice.digest == digest_of(terms)) return;
  drop(from, theirs.notice, group);
  throw Error(Fault::peer,
              fmt::format("rank {} sends {}, and {} are expected here", from, theirs.shown, terms));
}

}  // namespace narrowcast::python
