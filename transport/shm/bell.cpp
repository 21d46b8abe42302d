#include "transport/shm/bell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace narrowcast::shm {
namespace {

// Not FUTEX_PRIVATE_FLAG: the sleeper is another process.
void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* at_most) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, at_most, nullptr,
          0);
}

}  // namespace

void Bell::sleep(std::optional<std::chrono::nanoseconds> at_most) {
  timespec limit = {};
  if (at_most) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(*at_most);
    limit = {.tv_sec = seconds.count(), .tv_nsec = (*at_most - seconds).count()};
  }
  futex(word_, FUTEX_WAIT, 1, at_most ? &limit : nullptr);
  word_.store(0);
}

void Bell::wake() {
  word_.store(0);
  futex(word_, FUTEX_WAKE, INT_MAX, nullptr);
}

}  // namespace narrowcast::shm
