#pragma once

#include <vector>

#include "base/bytes.hpp"
#include "collective/conversation.hpp"

namespace narrowcast::bench {

// What ranks tell each other between measurements, on a conversation of its own: all of them call
// the same function at the same time.
class Control {
 public:
  Control(Transport& net, std::uint32_t number) : group_(net, number) {}

  int rank() const { return group_.rank(); }
  int size() const { return group_.size(); }

  // Returns when all ranks have called it.
  void barrier();

  // Rank 0 gets what each rank has, by rank; the others get nothing.
  template <Plain T>
  std::vector<T> gather(const T& own) {
    std::vector<T> all(rank() == 0 ? static_cast<std::size_t>(size()) : 0);
    if (rank() == 0) all[0] = own;
    gather_bytes(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)));
    return all;
  }

  // What rank 0 has, everywhere.
  template <Plain T>
  T share(T own) {
    share_bytes(std::as_writable_bytes(std::span(&own, 1)));
    return own;
  }
  void share_bytes(MutableBytes bytes);

  // One message, for both ends of it; who sends waits for the answer.
  void send(int peer, Bytes bytes);
  void receive(int peer, MutableBytes bytes);

 private:
  void gather_bytes(Bytes own, MutableBytes all);

  Conversation group_;
};

}  // namespace narrowcast::bench
