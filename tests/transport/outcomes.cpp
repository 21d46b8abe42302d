#include "tests/transport/outcomes.hpp"

#include <exception>
#include <string>
#include <thread>

#include "transport/inproc.hpp"

namespace narrowcast::test {
namespace {

class Meddled final : public Transfer {
 public:
  Meddled(std::shared_ptr<const Handed> handed, Ticket ticket)
      : handed_(std::move(handed)), ticket_(std::move(ticket)) {}
  Arrival wait() override { return ticket_.wait(); }

 private:
  std::shared_ptr<const Handed> handed_;
  Ticket ticket_;
};

}  // namespace

Outcomes outcomes_of(int ranks, const std::function<void(std::unique_ptr<Transport>)>& body,
                     std::chrono::milliseconds timeout) {
  Hub hub(ranks, timeout);
  Outcomes outcomes(ranks);
  std::vector<std::exception_ptr> others(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        body(hub.connect(rank));
      } catch (const Error& error) {
        outcomes[rank] = error;
      } catch (...) {
        others[rank] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& other : others)
    if (other) std::rethrow_exception(other);
  return outcomes;
}

std::unique_ptr<Transfer> Meddler::do_send(const Slot& to, Bytes message, const Stamp& stamp) {
  const auto handed = std::make_shared<Handed>(Handed{to, {message.begin(), message.end()}, stamp});
  meddle_(*handed);
  Ticket ticket = inner().send(handed->to, handed->message, handed->stamp);
  return std::make_unique<Meddled>(handed, std::move(ticket));
}

std::unique_ptr<Transfer> Meddler::do_receive(const Slot& from, MutableBytes buffer) {
  return std::make_unique<PassedOn>(inner().receive(from, buffer));
}

Buffer bytes_of(std::string_view text) {
  const Bytes bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void send_text(Transport& net, const Slot& to, std::string_view text) {
  net.send(to, std::as_bytes(std::span(text))).wait();
}

std::string receive_text(Transport& net, const Slot& from) {
  std::string text(4096, '\0');
  text.resize(net.receive(from, std::as_writable_bytes(std::span(text))).wait().length);
  return text;
}

}  // namespace narrowcast::test
