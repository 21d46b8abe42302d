#include "transport/carrying/records.hpp"

namespace narrowcast::carrying {
namespace {

using framing::Header;

constexpr std::uint16_t kLast = 1;  // in Header::reserved

// The header of the record at that place; whether all of it is in the memory of a frame.
bool read_header(Bytes memory, std::size_t begin, Header& header) {
  const std::size_t most = memory.size() - kFrameEnd;
  if (begin > most || most - begin < sizeof header) return false;
  header = get<Header>(memory.subspan(begin));
  return header.magic == framing::kMagic && header.reserved <= kLast &&
         header.length <= most - begin - sizeof header;
}

std::size_t end_of(std::size_t begin, const Header& header) {
  return begin + sizeof header + header.length;
}

// Where the records end; nothing when this is not the frame of that number.
std::optional<std::size_t> find_end(Bytes memory, std::uint64_t number) {
  if (memory.size() < kFrameEnd) return std::nullopt;
  std::size_t place = 0;
  Header header;
  do {
    if (!read_header(memory, place, header) || header.number != number) return std::nullopt;
    place = end_of(place, header);
  } while (header.reserved != kLast);
  if (get<std::uint64_t>(memory.subspan(place)) != number) return std::nullopt;
  return place;
}

}  // namespace

std::optional<std::size_t> Records::room() const {
  const std::size_t left = memory_.size() - kFrameEnd - used_;
  if (left < sizeof(Header)) return std::nullopt;
  return left - sizeof(Header);
}

void Records::put(Header header, Bytes payload) {
  header.length = static_cast<std::uint32_t>(payload.size());
  if (used_ == 0) begins_.clear();
  begins_.push_back(used_);
  const MutableBytes place = MutableBytes(memory_).subspan(used_);
  framing::copy_in_steps(payload, narrowcast::put(place, header));
  used_ += sizeof header + payload.size();
}

MutableBytes Records::finish(std::uint64_t number) {
  for (const std::size_t begin : begins_) {
    const MutableBytes place = MutableBytes(memory_).subspan(begin);
    auto header = get<Header>(place);
    header.number = number;
    header.reserved = begin == begins_.back() ? kLast : 0;
    narrowcast::put(place, header);
  }
  narrowcast::put(MutableBytes(memory_).subspan(used_), number);
  return MutableBytes(memory_).first(used_ + kFrameEnd);
}

bool read_records(Bytes memory, std::uint64_t number, const TakeRecord& take) {
  const std::optional<std::size_t> end = find_end(memory, number);
  if (!end) return false;
  for (std::size_t place = 0; place < *end;) {
    const auto header = get<Header>(memory.subspan(place));
    take(header, memory.subspan(place + sizeof header, header.length));
    place = end_of(place, header);
  }
  return true;
}

}  // namespace narrowcast::carrying
