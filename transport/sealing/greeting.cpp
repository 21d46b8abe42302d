// How ranks greet each other.
//
//   1. Everybody sends everybody a Greeting. All greetings of a rank have the same 32 random bytes;
//      the proof is a MAC over all before it, under a key made from the job key.
//   2. session key = MAC under another key made from the job key, over the number of ranks and all
//      random bytes in rank order. One's own are fresh, so no session key was ever used before, and
//      nonces (channel, sequence) may start anew.
//   3. Everybody sends everybody an empty message under the session key.
//
// Without a job key random bytes and proof are zero, and it ends with step 1.
#include "transport/sealing/greeting.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "transport/meet.hpp"

namespace narrowcast::sealing {
namespace {

constexpr std::array<unsigned char, 8> kMagic = {0x8e, 'N', 'C', 'G', 0x0d, 0x0a, 0x1a, 0x0a};
constexpr std::uint32_t kProtocol = 1;

enum class Guard : std::uint32_t { checksum = 0, authentic = 1, encrypted = 2 };

// Magic, protocol and version stay where they are in every protocol, so that a refusal can name
// both versions.
struct Greeting {
  std::array<unsigned char, 8> magic = kMagic;
  std::uint32_t protocol = kProtocol;
  std::array<char, 32> version = {};  // ends with zeros
  Guard guard = Guard::checksum;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t size = 0;
  std::uint32_t reserved = 0;
  std::array<std::byte, kKeyBytes> random = {};
  std::array<std::byte, kKeyBytes> proof = {};
};
static_assert(sizeof(Greeting) == 128);
constexpr std::size_t kLongest = 1024;  // of other protocols

Bytes proven_part(const Greeting& greeting) {
  return std::as_bytes(std::span(&greeting, 1)).first(sizeof greeting - kKeyBytes);
}

Secret proof_of(const JobKey& key, const Greeting& greeting) {
  const Secret proving = derive(key, "nc job key proof", {});
  return derive(proving.bytes(), "nc greeting text", proven_part(greeting));
}

Guard guard_of(const Sealing& sealing) {
  if (!sealing.key) return Guard::checksum;
  return sealing.secrecy == Secrecy::encrypted ? Guard::encrypted : Guard::authentic;
}

std::string_view does(Guard guard) {
  switch (guard) {
    case Guard::checksum:
      return "has no job key";
    case Guard::authentic:
      return "authenticates with a job key";
    case Guard::encrypted:
      return "encrypts with a job key";
  }
  return "does something unknown";
}

[[noreturn]] void refuse(int peer, const std::string& why) {
  throw Error(Fault::peer, fmt::format("rank {} {}", peer, why));
}

[[noreturn]] void malformed(int peer) {
  throw Error(Fault::wire, fmt::format("rank {} sent something that is no greeting", peer));
}

Greeting read(int peer, Bytes letter) {
  constexpr std::size_t kFixed = offsetof(Greeting, guard);
  if (letter.size() < kFixed) malformed(peer);
  Greeting greeting;
  copy(letter.first(kFixed), std::as_writable_bytes(std::span(&greeting, 1)));
  const auto end = std::ranges::find(greeting.version, '\0');
  const bool printable =
      std::all_of(greeting.version.begin(), end, [](char c) { return c >= 0x21 && c <= 0x7e; });
  if (greeting.magic != kMagic || end == greeting.version.end() || !printable) malformed(peer);
  if (greeting.protocol != kProtocol) return greeting;
  if (letter.size() != sizeof greeting) malformed(peer);
  return get<Greeting>(letter);
}

void check_version(int peer, const Greeting& theirs, const Sealing& sealing) {
  const std::string_view version = theirs.version.data();
  if (theirs.protocol != kProtocol || version != sealing.version)
    refuse(peer, fmt::format("runs narrowcast {} (protocol {}), and this rank {} (protocol {})",
                             version, theirs.protocol, sealing.version, kProtocol));
}

// In this order, so that the complaint is about the cause: a rank of another version may prove its
// key otherwise, and one that has no key cannot prove it.
void check(const Greeting& theirs, const Greeting& expected, const Sealing& sealing) {
  const int peer = static_cast<int>(expected.from);
  check_version(peer, theirs, sealing);
  if (theirs.guard != expected.guard)
    refuse(peer, fmt::format("{}, and this rank {}", does(theirs.guard), does(expected.guard)));
  if (sealing.key && !same(proof_of(*sealing.key, theirs).bytes(), theirs.proof))
    refuse(peer, "has another job key");
  if (theirs.size != expected.size)
    refuse(peer, fmt::format("counts {} ranks, and this rank {}", theirs.size, expected.size));
  if (theirs.from != expected.from || theirs.to != expected.to)
    refuse(peer, fmt::format("sent the greeting of rank {} to rank {}", theirs.from, theirs.to));
}

Greeting begin(const Transport& net, const Sealing& sealing) {
  Greeting own = {.guard = guard_of(sealing), .size = static_cast<std::uint32_t>(net.size())};
  require(sealing.version.size() < own.version.size(), Fault::usage, "this version has no room");
  std::ranges::copy(sealing.version, own.version.begin());
  if (sealing.key) fill_with_random(own.random);
  return own;
}

Letters greetings(const Transport& net, Greeting own, const Sealing& sealing) {
  Letters letters(net.size());
  own.from = static_cast<std::uint32_t>(net.rank());
  for (int peer = 0; peer < net.size(); ++peer) {
    own.to = static_cast<std::uint32_t>(peer);
    if (sealing.key) std::ranges::copy(proof_of(*sealing.key, own).bytes(), own.proof.begin());
    const Bytes bytes = std::as_bytes(std::span(&own, 1));
    if (peer != net.rank()) letters[peer].assign(bytes.begin(), bytes.end());
  }
  return letters;
}

}  // namespace

std::optional<Secret> greet(Transport& net, const Sealing& sealing) {
  Greeting expected = begin(net, sealing);
  const Letters theirs = meet(net, kGreetingChannel, greetings(net, expected, sealing), kLongest);

  std::vector<std::byte> randoms(net.size() * kKeyBytes);
  const auto place = [&](int rank) {
    return MutableBytes(randoms).subspan(rank * kKeyBytes, kKeyBytes);
  };
  copy(expected.random, place(net.rank()));
  expected.to = static_cast<std::uint32_t>(net.rank());
  for (int peer = 0; peer < net.size(); ++peer) {
    if (peer == net.rank()) continue;
    const Greeting greeting = read(peer, theirs[peer]);
    expected.from = static_cast<std::uint32_t>(peer);
    check(greeting, expected, sealing);
    copy(greeting.random, place(peer));
  }
  if (!sealing.key) return std::nullopt;
  const Secret making = derive(*sealing.key, "nc session maker", {});
  return derive(making.bytes(), "nc all randoms  ", randoms);  // their number is in their length
}

void confirm(Transport& net) {
  try {
    meet(net, kConfirmationChannel, Letters(net.size()), 0);
  } catch (const Error& error) {
    if (error.fault() != Fault::wire) throw;
    throw Error(Fault::wire, fmt::format("a greeting was replayed or altered: {}", error.what()));
  }
}

}  // namespace narrowcast::sealing
