#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "transport/join.hpp"
#include "transport/sealing/keys.hpp"

// What the two ends of the rendezvous say to each other.
//
//   client: greeting = magic "NCMEET" | protocol '2' | zero u8 | keyed u64 | nonce [32]
//   server: answer   = greeting of its own | proof [32]        zeros without a job key
//   then, in turns and the client first, frames: length u32 | body [length] | seal [32], the seal
//   only with a job key
//     request body:  verb u8 | patience in ms u32 | length of the key u32 | key | value
//     reply body:    outcome u8 | value
//
// Proof and seals are BLAKE2b keyed by a hash of the job key and both nonces. A seal also covers
// the direction and the number of its frame, so nothing can be replayed, here or elsewhere.
namespace narrowcast::rendezvous {

inline constexpr std::array<char, 6> kMagic = {'N', 'C', 'M', 'E', 'E', 'T'};
inline constexpr char kProtocol = '2';
inline constexpr std::size_t kLongestKey = 200;
inline constexpr std::size_t kLongestValue = std::size_t{1} << 20;
inline constexpr std::size_t kLongestBody = kLongestValue + kLongestKey + 16;
// Of a guest's first request, which has no value: nobody has shown by then that they are a rank.
inline constexpr std::size_t kLongestFirstBody = kLongestKey + 16;

enum class Verb : std::uint8_t { set = 1, get = 2 };
enum class Outcome : std::uint8_t { done = 0, absent = 1, taken = 2, full = 3 };

// Magic, protocol and length stay what they are in every protocol, so that a refusal can name both.
struct Greeting {
  std::array<char, 6> magic = kMagic;
  char protocol = kProtocol;
  char zero = '\0';
  std::uint64_t keyed = 0;
  std::array<std::byte, 32> nonce = {};
};

struct Answer {
  Greeting greeting;
  std::array<std::byte, 32> proof = {};
};

static_assert(sizeof(Greeting) == 48);

Greeting make_greeting(const std::optional<JobKey>& key);

// Nothing when it is no greeting.
std::optional<char> protocol_of(const Greeting& greeting);

enum class End { client, server };

// Frames one end's bodies and opens the other's.
class Session {
 public:
  Session() = default;  // without a key
  Session(End own, const JobKey& key, const Greeting& client, const Greeting& server);

  std::array<std::byte, 32> proof() const;  // that the server has the job key

  // Appends a frame to `out`.
  void close(Bytes body, std::vector<std::byte>& out);

  // The bytes that follow a length, or nothing when no frame is that long.
  std::optional<std::size_t> rest_of_frame(std::uint32_t length) const;

  // The body of what followed the length, or nothing when the seal is not the peer's.
  std::optional<Bytes> open(Bytes rest);

 private:
  sealing::Secret seal(End from, std::uint64_t number, Bytes body) const;

  End own_ = End::client;
  std::optional<sealing::Secret> key_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

struct Request {
  Verb verb = Verb::get;
  std::uint32_t patience_ms = 0;
  std::string_view key = {};
  Bytes value = {};
};

std::vector<std::byte> body_of(const Request& request);

// Points into `body`. Nothing when it is no request.
std::optional<Request> parse_request(Bytes body);

}  // namespace narrowcast::rendezvous
