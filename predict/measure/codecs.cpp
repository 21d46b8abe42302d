#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/error.hpp"
#include "base/random.hpp"
#include "codec/codec.hpp"
#include "predict/measure/measure.hpp"

namespace narrowcast {
namespace {

using Clock = std::chrono::steady_clock;

// A large layer's gradient: not in the caches nearest to a core.
constexpr std::size_t kValues = std::size_t{1} << 20;
constexpr std::size_t kChunk = std::size_t{64} << 10;  // as collectives encode them
constexpr std::size_t kFewest = 3;

// Like a gradient: most of it small.
std::vector<float> gradient() {
  std::vector<float> values(kValues);
  std::uint64_t state = 1;
  for (float& value : values) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto share = static_cast<float>(state >> 40) / static_cast<float>(1 << 24);  // 0 to 1
    value = (share - 0.5F) * (share - 0.5F) * (share - 0.5F);
  }
  return values;
}

// Nanoseconds of CPU a value, for a call that takes [first, first + count).
template <class Call>
Finding time_chunks(double seconds, const Call& call) {
  std::vector<double> times;
  const Clock::time_point start = Clock::now();
  while (times.size() < kFewest ||
         std::chrono::duration<double>(Clock::now() - start).count() < seconds) {
    const double before = thread_seconds();
    for (std::size_t first = 0; first < kValues; first += kChunk) call(first);
    times.push_back((thread_seconds() - before) * 1e9 / static_cast<double>(kValues));
  }
  return finding_of(std::move(times));
}

}  // namespace

CodecSpeed measure_codec(const std::string& spec, double seconds) {
  const std::unique_ptr<Codec> codec = make_codec(spec);
  const std::vector<float> exact = gradient();
  std::vector<float> landing(kValues);
  std::vector<float> residual(kValues);
  const std::size_t room = codec->max_bytes(kChunk);
  std::vector<std::byte> wire(room * (kValues / kChunk));
  std::vector<std::size_t> used(kValues / kChunk);
  const auto message = [&](std::size_t first) {
    return MutableBytes(wire).subspan(first / kChunk * room, room);
  };
  const auto encode = [&](std::size_t first, MutableFloats left) {
    used[first / kChunk] = codec->encode(Floats(exact).subspan(first, kChunk), message(first),
                                         {.first_index = first, .residual = left});
  };
  const auto received = [&](std::size_t first) {
    return Bytes(message(first)).first(used[first / kChunk]);
  };
  CodecSpeed speed{.codec = spec};
  const double each = seconds / 4;
  const Finding plain = time_chunks(each, [&](std::size_t first) { encode(first, {}); });
  const Finding fed = time_chunks(each, [&](std::size_t first) {
    encode(first, MutableFloats(residual).subspan(first, kChunk));
  });
  const Finding decode = time_chunks(each, [&](std::size_t first) {
    codec->decode(received(first), MutableFloats(landing).subspan(first, kChunk));
  });
  const Finding add = time_chunks(each, [&](std::size_t first) {
    codec->accumulate(received(first), MutableFloats(landing).subspan(first, kChunk));
  });
  // Values that travel as they are need neither.
  const bool identity = spec == "fp32";
  speed.encode_ns = identity ? 0 : plain.value;
  speed.decode_ns = identity ? 0 : decode.value;
  speed.add_ns = add.value;
  speed.feedback_ns = identity ? 0 : std::max(0.0, fed.value - plain.value);
  speed.spread = std::min(std::max(plain.spread, decode.spread), kMostSpread);
  return speed;
}

double measure_cores(Roundtable& table) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  require(sched_getaffinity(0, sizeof allowed, &allowed) == 0, Fault::system,
          "cannot tell which cores this process may use");
  const int count = CPU_COUNT(&allowed);
  constexpr auto kWhile = std::chrono::milliseconds(300);
  table.meet();
  std::atomic<double> cpu = 0;
  const Clock::time_point start = Clock::now();
  const auto spin = [&] {
    while (Clock::now() - start < kWhile) {
    }
    cpu.fetch_add(thread_seconds());
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(spin);
  for (std::thread& thread : threads) thread.join();
  const double wall = std::chrono::duration<double>(Clock::now() - start).count();
  return table.mean({cpu / wall})[0];
}

}  // namespace narrowcast
