#include "transport/sealing/keys.hpp"

#include <sodium.h>

#include "base/error.hpp"

namespace narrowcast::sealing {

Secret::~Secret() { wipe(bytes_); }

Secret::Secret(Secret&& other) noexcept : bytes_(other.bytes_) { wipe(other.bytes_); }

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this != &other) {
    bytes_ = other.bytes_;
    wipe(other.bytes_);
  }
  return *this;
}

void start_sodium() {
  require(sodium_init() >= 0, Fault::system, "libsodium cannot start: no source of randomness");
}

void fill_with_random(MutableBytes out) { randombytes_buf(out.data(), out.size()); }

void wipe(MutableBytes bytes) { sodium_memzero(bytes.data(), bytes.size()); }

Secret derive(KeyBytes key, const Purpose& purpose, Bytes context) {
  static_assert(kKeyBytes >= crypto_generichash_KEYBYTES_MIN &&
                kKeyBytes <= crypto_generichash_KEYBYTES_MAX);
  static_assert(kKeyBytes >= crypto_generichash_BYTES_MIN &&
                kKeyBytes <= crypto_generichash_BYTES_MAX);
  Secret out;
  crypto_generichash_state state;
  crypto_generichash_init(&state, raw(key), key.size(), kKeyBytes);
  crypto_generichash_update(&state, raw(std::as_bytes(std::span(purpose))), sizeof purpose);
  crypto_generichash_update(&state, raw(context), context.size());
  crypto_generichash_final(&state, raw(MutableBytes(out.bytes())), kKeyBytes);
  sodium_memzero(&state, sizeof state);
  return out;
}

bool same(KeyBytes a, KeyBytes b) { return sodium_memcmp(a.data(), b.data(), kKeyBytes) == 0; }

}  // namespace narrowcast::sealing
