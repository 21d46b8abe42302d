#pragma once

#include <memory>
#include <utility>

#include "transport/transport.hpp"

namespace narrowcast {

// A transport around another one, which it owns.
class Wrapper : public Transport {
 public:
  explicit Wrapper(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}

  int rank() const final { return inner_->rank(); }
  int size() const final { return inner_->size(); }
  void poke() final { inner_->poke(); }
  void engine_all_reduce(MutableFloats values) final { inner_->engine_all_reduce(values); }

  Transport& inner() { return *inner_; }

 private:
  std::unique_ptr<Transport> inner_;
};

// A transfer of the inner transport, handed on as it is.
class PassedOn final : public Transfer {
 public:
  explicit PassedOn(Ticket ticket) : ticket_(std::move(ticket)) {}
  Arrival wait() override { return ticket_.wait(); }

 private:
  Ticket ticket_;
};

}  // namespace narrowcast
