// Any bytes, read as a frame and as a message of every codec: Fault::wire (or Fault::usage for what
// the caller chose) or success, and never anything else.
//
//   input:   u8 which codec | u8, u8 how many values | the message
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "codec/frame.hpp"
#include "tests/fuzz/allowed.hpp"

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

template <class Call>
void expect_wire_or_success(Call call) {
  fuzz::expect({Fault::wire}, call);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  expect_wire_or_success([&] { decode_frame(bytes); });
  if (size < 3) return 0;
  const auto& all = all_codecs();
  const Codec& codec = *all[data[0] % all.size()];
  std::vector<float> values(std::size_t{data[1]} * 16 + data[2]);
  // A buffer of its own, so that the sanitizer sees a read past its end.
  const std::vector<std::byte> message(bytes.begin() + 3, bytes.end());
  expect_wire_or_success([&] { codec.decode(message, values); });
  expect_wire_or_success([&] { codec.accumulate(message, values, 3); });
  return 0;
}
