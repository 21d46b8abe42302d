#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "tests/support/ranks.hpp"
#include "transport/wrapper.hpp"

namespace narrowcast::test {

using Buffer = std::vector<std::byte>;
using Outcomes = std::vector<std::optional<Error>>;  // by rank: the error it ended with, if any

// Runs `body` on ranks that are threads over inproc, each with its own connection to wrap. What is
// no Error is rethrown.
Outcomes outcomes_of(int ranks, const std::function<void(std::unique_ptr<Transport>)>& body,
                     std::chrono::milliseconds timeout = kTestTimeout);

// A message as it is handed to a transport.
struct Handed {
  Slot to;
  Buffer message;
  Stamp stamp;
};

// Changes what a rank sends, just before it reaches the inner transport, or looks at it.
class Meddler final : public Wrapper {
 public:
  using Meddle = std::function<void(Handed&)>;
  Meddler(std::unique_ptr<Transport> inner, Meddle meddle)
      : Wrapper(std::move(inner)), meddle_(std::move(meddle)) {}

 private:
  std::unique_ptr<Transfer> do_send(const Slot& to, Bytes message, const Stamp& stamp) override;
  std::unique_ptr<Transfer> do_receive(const Slot& from, MutableBytes buffer) override;

  Meddle meddle_;
};

Buffer bytes_of(std::string_view text);

void send_text(Transport& net, const Slot& to, std::string_view text);
// What comes, of at most 4096 bytes.
std::string receive_text(Transport& net, const Slot& from);

}  // namespace narrowcast::test
