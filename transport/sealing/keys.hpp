#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "base/bytes.hpp"

namespace narrowcast::sealing {

inline constexpr std::size_t kKeyBytes = 32;
using KeyBytes = std::span<const std::byte, kKeyBytes>;

// A key that is wiped from memory when it goes, and that nothing prints.
class Secret {
 public:
  Secret() = default;
  ~Secret();
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;

  KeyBytes bytes() const { return bytes_; }
  std::span<std::byte, kKeyBytes> bytes() { return bytes_; }

 private:
  std::array<std::byte, kKeyBytes> bytes_ = {};
};

// For libsodium, whose bytes are unsigned char.
inline const unsigned char* raw(Bytes bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
inline unsigned char* raw(MutableBytes bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

// Before anything else of libsodium. Fault::system when it cannot start.
void start_sodium();

void fill_with_random(MutableBytes out);
void wipe(MutableBytes bytes);

// Keyed BLAKE2b of the purpose and what follows it: a key for that purpose, or proof of having
// `key`. Purposes are all equally long, so none can be mistaken for another.
using Purpose = char[17];  // with the zero at its end
Secret derive(KeyBytes key, const Purpose& purpose, Bytes context);

// In a time that does not tell where they differ.
bool same(KeyBytes a, KeyBytes b);

}  // namespace narrowcast::sealing
