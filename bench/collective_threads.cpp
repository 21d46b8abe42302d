#include "bench/collective_threads.hpp"

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "transport/inproc.hpp"

namespace narrowcast::bench {

void on_threads(int ranks, const std::function<void(std::unique_ptr<Transport>)>& body,
                std::chrono::milliseconds timeout) {
  Hub hub(ranks, timeout);
  std::mutex mutex;
  std::exception_ptr first;
  const auto run = [&](int rank) {
    try {
      body(hub.connect(rank));
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(run, rank);
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace narrowcast::bench
