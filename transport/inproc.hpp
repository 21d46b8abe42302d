#pragma once

#include <chrono>
#include <memory>

#include "transport/transport.hpp"

namespace narrowcast {

// Ranks that are threads of this process: the transport of tests and examples. The hub must outlive
// what connect() returns; each rank connects once.
class Hub {
 public:
  explicit Hub(int ranks, std::chrono::milliseconds timeout = kDefaultTimeout);
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  int size() const;
  std::unique_ptr<Transport> connect(int rank);

  struct Shared;  // inproc.cpp

 private:
  std::unique_ptr<Shared> shared_;
};

}  // namespace narrowcast
