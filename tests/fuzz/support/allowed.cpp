#include "tests/fuzz/support/allowed.hpp"

#include <sanitizer/allocator_interface.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace narrowcast::fuzz {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

std::atomic<std::int64_t> held =
    0;  // since the input began; what is older and goes makes it negative
std::atomic<std::int64_t> limit = kNoLimit;

void taken(const volatile void*, std::size_t bytes) {
  const std::int64_t now =
      held.fetch_add(static_cast<std::int64_t>(bytes)) + static_cast<std::int64_t>(bytes);
  const std::int64_t most = limit.load();
  if (now <= most) return;
  limit = kNoLimit;  // the report allocates, too
  // Without an allocation, as this is in the middle of one.
  char text[128];
  const int length =
      std::snprintf(text, sizeof text,
                    "allocation: %zu bytes more make %lld, and this input justifies "
                    "%lld\n",
                    bytes, static_cast<long long>(now), static_cast<long long>(most));
  [[maybe_unused]] const ssize_t written =
      ::write(STDERR_FILENO, text, static_cast<std::size_t>(length));
  std::abort();
}

void given_back(const volatile void* memory) {
  held -=
      static_cast<std::int64_t>(__sanitizer_get_allocated_size(const_cast<const void*>(memory)));
}

}  // namespace

void expect(const std::vector<Fault>& allowed, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    if (std::ranges::find(allowed, error.fault()) != allowed.end()) return;
    std::fprintf(stderr, "not to be refused so: %s\n", error.what());
    std::abort();
  }
}

int hand_over(std::span<const Reader> readers, Bytes input) {
  if (input.empty()) return 0;
  const Reader& reader = readers[std::to_integer<std::size_t>(input[0]) % readers.size()];
  const Memory memory(reader.allowance, input.size());
  expect(reader.refusals, [&] { reader.read(input.subspan(1)); });
  return 0;
}

Memory::Memory(const Allowance& allowance, std::size_t input_bytes) {
  static const int installed = __sanitizer_install_malloc_and_free_hooks(taken, given_back);
  if (installed == 0) std::abort();
  held = 0;
  limit = static_cast<std::int64_t>(allowance.fixed + allowance.for_each_byte * input_bytes);
}

Memory::~Memory() { limit = kNoLimit; }

}  // namespace narrowcast::fuzz
