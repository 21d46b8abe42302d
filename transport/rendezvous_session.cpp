#include "transport/rendezvous_session.hpp"

#include <algorithm>

namespace narrowcast::rendezvous {
namespace {

constexpr std::size_t kSealBytes = sealing::kKeyBytes;
constexpr std::size_t kRequestHead = 9;

void append(std::vector<std::byte>& out, Bytes bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

template <Plain T>
void append(std::vector<std::byte>& out, const T& value) {
  append(out, std::as_bytes(std::span(&value, 1)));
}

}  // namespace

Greeting make_greeting(const std::optional<JobKey>& key) {
  sealing::start_sodium();
  Greeting greeting;
  greeting.keyed = key ? 1 : 0;
  sealing::fill_with_random(greeting.nonce);
  return greeting;
}

std::optional<char> protocol_of(const Greeting& greeting) {
  const bool is_one =
      greeting.magic == kMagic && greeting.protocol > ' ' && greeting.protocol <= '~';
  return is_one ? std::optional(greeting.protocol) : std::nullopt;
}

Session::Session(End own, const JobKey& key, const Greeting& client, const Greeting& server)
    : own_(own) {
  std::vector<std::byte> nonces;
  append(nonces, Bytes(client.nonce));
  append(nonces, Bytes(server.nonce));
  key_ = sealing::derive(key, "meeting: session", nonces);
}

std::array<std::byte, 32> Session::proof() const {
  std::array<std::byte, 32> proof = {};
  if (key_)
    std::ranges::copy(sealing::derive(key_->bytes(), "meeting: server ", {}).bytes(),
                      proof.begin());
  return proof;
}

void Session::close(Bytes body, std::vector<std::byte>& out) {
  append(out, static_cast<std::uint32_t>(body.size()));
  append(out, body);
  if (key_) append(out, Bytes(seal(own_, sent_++, body).bytes()));
}

std::optional<std::size_t> Session::rest_of_frame(std::uint32_t length) const {
  if (length > kLongestBody) return std::nullopt;
  return length + (key_ ? kSealBytes : 0);
}

std::optional<Bytes> Session::open(Bytes rest) {
  if (!key_) return rest;
  const Bytes body = rest.first(rest.size() - kSealBytes);
  const End peer = own_ == End::client ? End::server : End::client;
  const sealing::Secret expected = seal(peer, received_++, body);
  if (!sealing::same(rest.last<kSealBytes>(), expected.bytes())) return std::nullopt;
  return body;
}

sealing::Secret Session::seal(End from, std::uint64_t number, Bytes body) const {
  std::vector<std::byte> covered;
  covered.reserve(sizeof from + sizeof number + body.size());
  append(covered, from);
  append(covered, number);
  append(covered, body);
  return sealing::derive(key_->bytes(), "meeting: frame  ", covered);
}

std::vector<std::byte> body_of(const Request& request) {
  std::vector<std::byte> body;
  body.reserve(kRequestHead + request.key.size() + request.value.size());
  append(body, request.verb);
  append(body, request.patience_ms);
  append(body, static_cast<std::uint32_t>(request.key.size()));
  append(body, std::as_bytes(std::span(request.key)));
  append(body, request.value);
  return body;
}

std::optional<Request> parse_request(Bytes body) {
  if (body.size() < kRequestHead) return std::nullopt;
  Request request = {.verb = get<Verb>(body),
                     .patience_ms = get<std::uint32_t>(body.subspan(1)),
                     .key = {},
                     .value = {}};
  const auto key_length = get<std::uint32_t>(body.subspan(5));
  body = body.subspan(kRequestHead);
  if (key_length > kLongestKey || key_length > body.size()) return std::nullopt;
  if (request.verb != Verb::set && request.verb != Verb::get) return std::nullopt;
  request.key = {reinterpret_cast<const char*>(body.data()), key_length};
  request.value = body.subspan(key_length);
  return request;
}

}  // namespace narrowcast::rendezvous
