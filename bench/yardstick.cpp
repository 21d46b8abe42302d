#include "bench/yardstick.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "bench/aligned.hpp"
#include "bench/stopwatch.hpp"

namespace narrowcast::bench {
namespace {

// One cache line; the compiler makes of it what vectors the CPU surely has.
using Line = float __attribute__((vector_size(kAlignment)));
constexpr std::size_t kLineValues = kAlignment / sizeof(float);

void copy_lines(Floats from, MutableFloats to) {
  const std::size_t lines = from.size() / kLineValues;
  for (std::size_t i = 0; i < lines; ++i) {
    Line line;
    std::memcpy(&line, from.data() + i * kLineValues, sizeof line);
    std::memcpy(to.data() + i * kLineValues, &line, sizeof line);
    asm volatile("" ::: "memory");  // else compilers turn the loop into a call of memcpy
  }
  const std::size_t done = lines * kLineValues;
  copy(std::as_bytes(from.subspan(done)), std::as_writable_bytes(to.subspan(done)));
}

template <class CopyPart>
void copy_parts(Floats from, MutableFloats to, Team& team, CopyPart copy_part) {
  const std::size_t lines = (from.size() + kLineValues - 1) / kLineValues;
  const auto size = static_cast<std::size_t>(team.size());
  const auto border = [&](std::size_t member) {
    return std::min(lines * member / size * kLineValues, from.size());
  };
  team.run([&](int member) {
    const std::size_t begin = border(static_cast<std::size_t>(member));
    const std::size_t end = border(static_cast<std::size_t>(member) + 1);
    copy_part(from.subspan(begin, end - begin), to.subspan(begin, end - begin));
  });
}

}  // namespace

void copy_by_memcpy(Floats from, MutableFloats to, Team& team) {
  copy_parts(from, to, team, [](Floats part, MutableFloats there) {
    copy(std::as_bytes(part), std::as_writable_bytes(there));
  });
}

void copy_by_loop(Floats from, MutableFloats to, Team& team) {
  copy_parts(from, to, team, copy_lines);
}

double CopyTime::best_ns() const { return std::min(memcpy_ns, loop_ns); }

double CopyTime::gigabytes_per_second() const { return 2 * sizeof(float) / best_ns(); }

CopyTime measure_copy(std::size_t values, Team& team, double seconds) {
  const AlignedFloats from(values, 1.0f);
  AlignedFloats to(values);
  const std::array<Operation, 2> operations = {[&] { copy_by_memcpy(from, to, team); },
                                               [&] { copy_by_loop(from, to, team); }};
  const std::vector<double> best = best_nanoseconds(operations, seconds);
  const auto count = static_cast<double>(values);
  return {.memcpy_ns = best[0] / count, .loop_ns = best[1] / count};
}

}  // namespace narrowcast::bench
