// Any bytes where a transport's frames should be: as an engine hands them over, as a carrier delivers them, and in a
// ring of shared memory.
//
//   input:   u8 which of these | of rings: u16 where the other end says it is | the bytes
#include <algorithm>
#include <memory>

#include "tests/fuzz/support/allowed.hpp"
#include "transport/carried.hpp"
#include "transport/carrying/records.hpp"
#include "transport/framing/inbox.hpp"
#include "transport/shm/inbox.hpp"

namespace {

using namespace narrowcast;

constexpr std::size_t kRoom = 256;  // of each receive

// Two messages that somebody waits for.
template <class Inbox, class Posted>
class Waiting {
 public:
  explicit Waiting(Inbox& inbox) : inbox_(inbox) {
    for (std::size_t i = 0; i < std::size(posted_); ++i) {
      posted_[i].from = {.peer = 1, .channel = static_cast<Channel>(i)};
      posted_[i].buffer = buffers_[i];
      inbox_.post(posted_[i]);
    }
  }

 private:
  Inbox& inbox_;
  std::vector<std::byte> buffers_[2] = {std::vector<std::byte>(kRoom),
                                        std::vector<std::byte>(kRoom)};
  Posted posted_[2];
};

// Frame after frame, each where the one before it ended.
void frames(Bytes bytes) {
  framing::Faults faults;
  faults.wake_all = [] {};
  framing::Inbox inbox(faults, 1);
  const Waiting<framing::Inbox, framing::Receipt> waiting(inbox);
  for (std::uint64_t number = 0; framing::holds_frame(bytes, number); ++number) {
    const auto header = get<framing::Header>(bytes);
    const Bytes payload = bytes.subspan(sizeof header, header.length);
    if (header.kind == framing::Kind::message)
      inbox.take(header, payload);
    else
      framing::printable(payload);
    bytes = bytes.subspan(framing::kFrameExtra + header.length);
  }
}

void records(Bytes bytes) {
  framing::Faults faults;
  faults.wake_all = [] {};
  framing::Inbox inbox(faults, 1);
  const Waiting<framing::Inbox, framing::Receipt> waiting(inbox);
  carrying::read_records(
      bytes, 0, [&](const framing::Header& header, Bytes payload) { inbox.take(header, payload); });
}

void carried(Bytes bytes) {
  Carried net({.place = {.rank = 0, .size = 2}, .frame_bytes = 16 * kRoom});
  net.deliver(1, bytes);
  net.lost(1, "that was all");
}

void ring(Bytes bytes) {
  constexpr std::size_t kRing = 4096;
  if (bytes.size() < sizeof(std::uint16_t)) return;
  shm::RingControl control = {};
  control.head = std::uint64_t{get<std::uint16_t>(bytes)} * (shm::kCell / 4);
  const Bytes contents = bytes.subspan(sizeof(std::uint16_t));
  std::vector<std::byte> memory(kRing);
  copy(contents.first(std::min(contents.size(), kRing)), memory);
  std::atomic<std::uint32_t> word = 0;
  std::size_t parked = 0;
  shm::Inbox inbox(1, shm::RingReader(control, memory, {shm::Bell(word), 1}), parked);
  const Waiting<shm::Inbox, shm::Posted> waiting(inbox);
  while (inbox.pull()) continue;
}

const fuzz::Reader kReaders[] = {
    {frames, {Fault::wire}, {64 * fuzz::kKilo, 16}},
    {records, {Fault::wire}, {64 * fuzz::kKilo, 16}},
    {carried, {}, {64 * fuzz::kKilo, 16}},
    // Memory for a message of another process of this job is asked for at once and used as it comes.
    {ring, {Fault::wire}, {shm::kMostParked + 64 * fuzz::kKilo, 16}},
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::hand_over(kReaders, fuzz::bytes_of(data, size));
}
