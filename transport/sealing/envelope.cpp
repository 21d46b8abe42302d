// The stamp of a message, 16 bytes:
//   checksum    XXH3-64 of the message, seeded with the XXH3-64 of the Label below; eight zeros
//   keyed       the Poly1305 tag of ChaCha20-Poly1305 (RFC 8439). Key: of (session, from, to).
//               Nonce: channel, 4 bytes, and sequence, 8 bytes. The message is additional data
//               (authentic) or is encrypted (encrypted); the tag covers its length either way.
#include "transport/sealing/envelope.hpp"

#include <sodium.h>

#include <array>
#include <vector>

#include "base/checksum.hpp"

namespace narrowcast::sealing {
namespace {

struct Label {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t channel = 0;
  std::uint32_t reserved = 0;
  std::uint64_t sequence = 0;
  std::uint64_t length = 0;
};
static_assert(sizeof(Label) == 32);

Stamp checksum_stamp(int from, int to, const Slot& slot, Bytes message) {
  const Label label = {.from = static_cast<std::uint32_t>(from),
                       .to = static_cast<std::uint32_t>(to),
                       .channel = slot.channel,
                       .sequence = slot.sequence,
                       .length = message.size()};
  Stamp stamp = {};
  put(stamp, checksum(message, checksum(std::as_bytes(std::span(&label, 1)))));
  return stamp;
}

class ChecksumEnvelope final : public Envelope {
 public:
  explicit ChecksumEnvelope(int rank) : rank_(rank) {}

  Closed close(const Slot& to, Bytes message) const override {
    return {message, checksum_stamp(rank_, to.peer, to, message), nullptr};
  }

  bool open(const Slot& from, MutableBytes message, const Stamp& stamp) const override {
    return stamp == checksum_stamp(from.peer, rank_, from, message);
  }

  std::string_view complaint() const override { return "was damaged on its way"; }

 private:
  int rank_;
};

static_assert(kKeyBytes == crypto_aead_chacha20poly1305_ietf_KEYBYTES);
static_assert(sizeof(Stamp) == crypto_aead_chacha20poly1305_ietf_ABYTES);
using Nonce = std::array<unsigned char, crypto_aead_chacha20poly1305_ietf_NPUBBYTES>;

Nonce nonce_of(const Slot& slot) {
  static_assert(sizeof(Nonce) == sizeof slot.channel + sizeof slot.sequence);
  Nonce nonce;
  put(put(std::as_writable_bytes(std::span(nonce)), slot.channel), slot.sequence);
  return nonce;
}

// libsodium wants an address where nothing is encrypted, too.
const unsigned char* place_of(Bytes message) {
  static constexpr unsigned char kNothing = 0;
  return message.empty() ? &kNothing : raw(message);
}

// The keys of both directions between this rank and each peer.
class Keys {
 public:
  Keys(const Standing& own, KeyBytes session) {
    for (int peer = 0; peer < own.size; ++peer) {
      leaving_.push_back(direction(session, own.rank, peer));
      coming_.push_back(direction(session, peer, own.rank));
    }
  }

  const unsigned char* to(int peer) const { return raw(leaving_[peer].bytes()); }
  const unsigned char* from(int peer) const { return raw(coming_[peer].bytes()); }

 private:
  static Secret direction(KeyBytes session, int from, int to) {
    const std::array<std::uint32_t, 2> ends = {static_cast<std::uint32_t>(from),
                                               static_cast<std::uint32_t>(to)};
    return derive(session, "nc one direction", std::as_bytes(std::span(ends)));
  }

  std::vector<Secret> leaving_;
  std::vector<Secret> coming_;
};

class AuthenticEnvelope final : public Envelope {
 public:
  AuthenticEnvelope(const Standing& own, KeyBytes session) : keys_(own, session) {}

  Closed close(const Slot& to, Bytes message) const override {
    Closed closed = {.message = message, .stamp = {}, .written = nullptr};
    unsigned char nothing = 0;
    crypto_aead_chacha20poly1305_ietf_encrypt_detached(
        &nothing, raw(MutableBytes(closed.stamp)), nullptr, nullptr, 0, raw(message),
        message.size(), nullptr, nonce_of(to).data(), keys_.to(to.peer));
    return closed;
  }

  bool open(const Slot& from, MutableBytes message, const Stamp& stamp) const override {
    return crypto_aead_chacha20poly1305_ietf_decrypt_detached(
               nullptr, nullptr, place_of({}), 0, raw(Bytes(stamp)), raw(message), message.size(),
               nonce_of(from).data(), keys_.from(from.peer)) == 0;
  }

  std::string_view complaint() const override {
    return "is not authentic: altered, replayed or out of order";
  }

 private:
  Keys keys_;
};

class EncryptedEnvelope final : public Envelope {
 public:
  EncryptedEnvelope(const Standing& own, KeyBytes session) : keys_(own, session) {}

  Closed close(const Slot& to, Bytes message) const override {
    Closed closed = {.message = {},
                     .stamp = {},
                     .written = std::make_unique_for_overwrite<std::byte[]>(message.size())};
    const MutableBytes written(closed.written.get(), message.size());
    crypto_aead_chacha20poly1305_ietf_encrypt_detached(
        raw(written), raw(MutableBytes(closed.stamp)), nullptr, raw(message), message.size(),
        nullptr, 0, nullptr, nonce_of(to).data(), keys_.to(to.peer));
    closed.message = written;
    return closed;
  }

  bool open(const Slot& from, MutableBytes message, const Stamp& stamp) const override {
    return crypto_aead_chacha20poly1305_ietf_decrypt_detached(
               raw(message), nullptr, place_of(message), message.size(), raw(Bytes(stamp)), nullptr,
               0, nonce_of(from).data(), keys_.from(from.peer)) == 0;
  }

  std::string_view complaint() const override {
    return "does not decrypt: altered, replayed or out of order";
  }

 private:
  Keys keys_;
};

}  // namespace

std::unique_ptr<Envelope> checksum_envelope(const Standing& own) {
  return std::make_unique<ChecksumEnvelope>(own.rank);
}

std::unique_ptr<Envelope> keyed_envelope(const Standing& own, KeyBytes session, Secrecy secrecy) {
  if (secrecy == Secrecy::encrypted) return std::make_unique<EncryptedEnvelope>(own, session);
  return std::make_unique<AuthenticEnvelope>(own, session);
}

}  // namespace narrowcast::sealing
