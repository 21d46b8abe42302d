#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"

// What an input may end with, and how much memory it may take.
namespace narrowcast::fuzz {

// Success, or one of these faults; anything else is a finding.
void expect(const std::vector<Fault>& allowed, const std::function<void()>& call);

// Memory that one input justifies: so much whatever it says, and so much more for each of its bytes.
struct Allowance {
  std::size_t fixed = 0;
  std::size_t for_each_byte = 0;
};

// While it lives, an allocation that brings what is held beyond the allowance is a finding: the
// process stops where it was asked for.
class Memory {
 public:
  Memory(const Allowance& allowance, std::size_t input_bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
};

// Somebody who reads bytes from outside.
struct Reader {
  void (*read)(Bytes bytes);
  std::vector<Fault> refusals;
  Allowance allowance;
};

// The first byte of an input says which reader the rest is for. Returns what libFuzzer wants to hear.
int hand_over(std::span<const Reader> readers, Bytes input);

inline Bytes bytes_of(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}
inline std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline constexpr std::size_t kKilo = 1024;
inline constexpr std::size_t kMega = kKilo * kKilo;

}  // namespace narrowcast::fuzz
