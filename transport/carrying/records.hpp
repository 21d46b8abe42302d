#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "transport/framing/frame.hpp"

// What a carrier carries at once: one record after the other, each of them a header and its payload,
// and at the end the number of the frame again. All headers have that number; the last one is marked.
//
//   frame = { header [64] | payload [header.length] } ... | number u64
namespace narrowcast::carrying {

inline constexpr std::size_t kFrameEnd = sizeof(std::uint64_t);

// A frame that records are put into.
class Records {
 public:
  explicit Records(std::size_t room) : memory_(room + kFrameEnd) {}

  // How many bytes of payload another record can have; nothing: not even an empty one fits.
  std::optional<std::size_t> room() const;
  void clear() { used_ = 0; }

  void put(framing::Header header, Bytes payload);
  // Marks the last record. The bytes to carry.
  MutableBytes finish(std::uint64_t number);

 private:
  std::vector<std::byte> memory_;
  std::size_t used_ = 0;
  std::vector<std::size_t> begins_;  // of the records
};

using TakeRecord = std::function<void(const framing::Header& header, Bytes payload)>;

// Whether the memory begins with the whole frame of that number; then hands over its records.
bool read_records(Bytes memory, std::uint64_t number, const TakeRecord& take);

}  // namespace narrowcast::carrying
