// Any bytes, read as a frame and as a message of every codec: Fault::wire or success, and never anything else.
//
//   input:   u8 which codec | u8, u8 how many values | the message
#include <memory>
#include <vector>

#include "base/checksum.hpp"
#include "codec/frame.hpp"
#include "tests/fuzz/support/allowed.hpp"

namespace {

using namespace narrowcast;

const std::vector<std::unique_ptr<Codec>>& all_codecs() {
  static const auto all = [] {
    std::vector<std::unique_ptr<Codec>> made;
    for (const CodecRow& row : codecs())
      for (const std::string_view variant : row.variants) made.push_back(make_codec(variant));
    return made;
  }();
  return all;
}

// As it is, and past the checksum, which keeps nobody from writing what they like.
void frame(Bytes bytes) {
  fuzz::expect({Fault::wire}, [&] { decode_frame(bytes); });
  const std::uint64_t sum = checksum(bytes);
  std::vector<std::byte> whole(bytes.begin(), bytes.end());
  const Bytes end = std::as_bytes(std::span(&sum, 1));
  whole.insert(whole.end(), end.begin(), end.end());
  fuzz::expect({Fault::wire}, [&] { decode_frame(whole); });
}

void message(Bytes bytes) {
  if (bytes.size() < 3) return;
  const auto number = [&](std::size_t i) { return std::to_integer<std::size_t>(bytes[i]); };
  const auto& all = all_codecs();
  const Codec& codec = *all[number(0) % all.size()];
  std::vector<float> values(number(1) * 16 + number(2));
  // A buffer of its own, so that the sanitizer sees a read past its end.
  const std::vector<std::byte> own(bytes.begin() + 3, bytes.end());
  fuzz::expect({Fault::wire}, [&] { codec.decode(own, values); });
  fuzz::expect({Fault::wire}, [&] { codec.accumulate(own, values, 3); });
}

// docs/wire.md: a frame has at most a million values, or 4096 for each byte of its payload.
constexpr fuzz::Allowance kFrame{5 * fuzz::kMega, 4 * 4096};
constexpr fuzz::Allowance kMessage{256 * fuzz::kKilo, 64};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = fuzz::bytes_of(data, size);
  all_codecs();
  {
    const fuzz::Memory memory(kFrame, size);
    frame(bytes);
  }
  const fuzz::Memory memory(kMessage, size);
  message(bytes);
  return 0;
}
