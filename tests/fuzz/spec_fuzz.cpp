// Any text as a spec: Fault::usage, or a codec whose canonical spec gives an equal one and which
// keeps a small round trip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "codec/codec.hpp"
#include "tests/fuzz/support/allowed.hpp"

namespace {

using namespace narrowcast;

void check(const Codec& codec) {
  if (make_codec(codec.spec())->spec() != codec.spec()) std::abort();
  const std::vector<float> x{1.0f, -0.5f, 0.0f, 3.25f, -1e-3f};
  std::vector<std::byte> message(codec.max_bytes(x.size()));
  message.resize(codec.encode(x, message));
  std::vector<float> out(x.size());
  codec.decode(message, out);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view spec(reinterpret_cast<const char*>(data), size);
  const fuzz::Memory memory({4 * fuzz::kMega, 64}, size);
  std::unique_ptr<Codec> codec;
  try {
    codec = make_codec(spec, {.innermost = 12});
  } catch (const Error& error) {
    if (error.fault() != Fault::usage) std::abort();
    return 0;
  }
  check(*codec);
  return 0;
}
