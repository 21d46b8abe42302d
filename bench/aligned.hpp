#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace narrowcast::bench {

// Starts of cache lines: copies to unluckily aligned memory run many times slower on some CPUs, and
// would make the yardstick, and with it every ratio, meaningless.
inline constexpr std::size_t kAlignment = 64;

template <class T>
struct AlignedAllocator {
  using value_type = T;

  AlignedAllocator() = default;
  template <class U>
  explicit AlignedAllocator(const AlignedAllocator<U>&) noexcept {}

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(kAlignment)));
  }
  void deallocate(T* memory, std::size_t) noexcept {
    ::operator delete(memory, std::align_val_t(kAlignment));
  }
  bool operator==(const AlignedAllocator&) const = default;
};

// A vector writes what it allocates, so the pages are there before anything is measured.
using AlignedFloats = std::vector<float, AlignedAllocator<float>>;
using AlignedBytes = std::vector<std::byte, AlignedAllocator<std::byte>>;

}  // namespace narrowcast::bench
