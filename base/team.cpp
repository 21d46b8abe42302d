#include "base/team.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <system_error>

#include "base/error.hpp"

namespace narrowcast {
namespace {

constexpr std::uint32_t kStop = 1u << 31;

// Longer than the gap between two jobs of a loop, too short to matter to anybody else.
constexpr auto kPatience = std::chrono::microseconds(20);
// Reading the clock takes as long as many loads, so it is read now and then.
constexpr int kLooks = 64;

// Returns when `value` is no longer `old`, and what it is then.
std::uint32_t await_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  do {
    for (int look = 0; look < kLooks; ++look) {
      const std::uint32_t now = value.load(std::memory_order_acquire);
      if (now != old) return now;
    }
  } while (std::chrono::steady_clock::now() < deadline);
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

}  // namespace

Team::Team(int size) {
  if (size < 1)
    throw Error(Fault::usage, "a team needs at least 1 thread, not " + std::to_string(size));
  errors_.resize(static_cast<std::size_t>(size));
  try {
    for (int member = 1; member < size; ++member)
      members_.emplace_back([this, member] { serve(member); });
  } catch (const std::system_error& error) {
    dismiss();
    throw Error(Fault::system,
                "cannot start " + std::to_string(size) + " threads: " + error.what());
  }
}

Team::~Team() { dismiss(); }

void Team::run(const std::function<void(int)>& job) {
  job_ = &job;
  pending_.store(static_cast<std::uint32_t>(members_.size()), std::memory_order_relaxed);
  const std::uint32_t next = (round_.load(std::memory_order_relaxed) + 1) & ~kStop;
  round_.store(next, std::memory_order_release);
  round_.notify_all();

  attempt(0);
  std::uint32_t pending = pending_.load(std::memory_order_acquire);
  while (pending != 0) pending = await_change(pending_, pending);

  std::exception_ptr first;
  for (std::exception_ptr& error : errors_) {
    if (!first) first = error;
    error = nullptr;
  }
  if (first) std::rethrow_exception(first);
}

void Team::serve(int member) {
  std::uint32_t round = 0;
  for (;;) {
    round = await_change(round_, round);
    if (round & kStop) return;
    attempt(member);
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
  }
}

void Team::attempt(int member) noexcept {
  try {
    (*job_)(member);
  } catch (...) {
    errors_[static_cast<std::size_t>(member)] = std::current_exception();
  }
}

void Team::dismiss() noexcept {
  round_.fetch_or(kStop, std::memory_order_release);
  round_.notify_all();
  for (std::thread& member : members_) member.join();
}

}  // namespace narrowcast
