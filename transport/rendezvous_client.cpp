#include <fmt/core.h>

#include <algorithm>
#include <thread>

#include "base/error.hpp"
#include "transport/rendezvous.hpp"
#include "transport/rendezvous_session.hpp"
#include "transport/rendezvous_socket.hpp"

namespace narrowcast {
namespace {

using namespace rendezvous;
using namespace std::chrono_literals;

constexpr auto kRetry = 20ms;     // between two attempts to connect
constexpr auto kAnswer = 10s;     // a server that has nothing to wait for answers within this
constexpr auto kLongestGet = 1h;  // one request; longer waits are several

}  // namespace

class RendezvousClient::Connection {
 public:
  Connection(const RendezvousOptions& options, Clock::time_point deadline)
      : endpoint_{options.host, options.port}, key_(options.key) {
    std::string why = "no attempt was made";
    while (!attempt(deadline, why)) {
      if (Clock::now() + kRetry >= deadline)
        throw Error(Fault::peer,
                    fmt::format("rank 0 does not answer at {}: {}", text_of(endpoint_), why));
      // Rank 0 may not listen yet: there is nothing to wait on but time.
      std::this_thread::sleep_for(kRetry);
    }
  }

  // The reply: valid until the next request.
  Bytes ask(const Request& request, Clock::time_point deadline) {
    std::vector<std::byte> out;
    session_.close(body_of(request), out);
    if (!write_all(socket_, out, deadline)) throw gone();
    std::uint32_t length = 0;
    if (!read_all(socket_, std::as_writable_bytes(std::span(&length, 1)), deadline)) throw gone();
    const std::optional<std::size_t> rest = session_.rest_of_frame(length);
    if (!rest) throw nonsense();
    reply_.resize(*rest);
    if (!read_all(socket_, reply_, deadline)) throw gone();
    const std::optional<Bytes> body = session_.open(reply_);
    if (!body || body->empty()) throw nonsense();
    return *body;
  }

  Error nonsense() const {
    return {Fault::wire,
            fmt::format("what answers at {} is no rank 0 of ours", text_of(endpoint_))};
  }

 private:
  // False when nobody is there yet. Whoever is there and does not fit is an Error.
  bool attempt(Clock::time_point deadline, std::string& why) {
    std::optional<Socket> socket = connect_to(endpoint_, deadline, why);
    if (!socket) return false;
    const Greeting mine = make_greeting(key_);
    Answer answer;
    if (!write_all(*socket, std::as_bytes(std::span(&mine, 1)), deadline) ||
        !read_all(*socket, std::as_writable_bytes(std::span(&answer, 1)),
                  std::min(deadline, Clock::now() + kAnswer))) {
      why = "it hangs up";
      return false;
    }
    socket_ = *std::move(socket);
    accept(mine, answer);
    return prove(deadline, why);
  }

  // The first request, which asks for nothing: until one has come, the server keeps this connection
  // only as long as it has room for everybody. False: it had none.
  bool prove(Clock::time_point deadline, std::string& why) {
    try {
      ask({.verb = Verb::get, .key = "anything"}, std::min(deadline, Clock::now() + kAnswer));
      return true;
    } catch (const Error& error) {
      if (error.fault() != Fault::peer) throw;
      why = "it hangs up";
      return false;
    }
  }

  void accept(const Greeting& mine, const Answer& answer) {
    session_ = {};
    const std::optional<char> protocol = protocol_of(answer.greeting);
    if (!protocol) throw nonsense();
    if (protocol != kProtocol)
      throw Error(Fault::peer, fmt::format("rank 0 meets by protocol {}, and this rank by {}",
                                           *protocol, kProtocol));
    if (answer.greeting.keyed != mine.keyed)
      throw Error(Fault::peer, key_ ? "there is a job key here, and rank 0 has none"
                                    : "rank 0 has a job key, and there is none here");
    if (!key_) return;
    session_ = Session(End::client, *key_, mine, answer.greeting);
    if (!sealing::same(answer.proof, session_.proof()))
      throw Error(Fault::peer, "the job key differs from rank 0's");
  }

  Error gone() const {
    return {Fault::peer,
            fmt::format("rank 0 went away while the ranks met at {}", text_of(endpoint_))};
  }

  Endpoint endpoint_;
  std::optional<JobKey> key_;
  Socket socket_;
  Session session_;
  Blob reply_;
};

RendezvousClient::RendezvousClient(const RendezvousOptions& options, Clock::time_point deadline)
    : connection_(std::make_unique<Connection>(options, deadline)) {}

RendezvousClient::~RendezvousClient() = default;

void RendezvousClient::set(std::string_view key, Bytes value) {
  require(key.size() <= kLongestKey && value.size() <= kLongestValue, Fault::usage,
          "rendezvous: key or value too long");
  const Bytes reply =
      connection_->ask({.verb = Verb::set, .key = key, .value = value}, Clock::now() + kAnswer);
  switch (narrowcast::get<Outcome>(reply)) {
    case Outcome::done:
      return;
    case Outcome::taken:
      throw Error(Fault::usage, fmt::format("somebody else has come as {} already", key));
    case Outcome::full:
      throw Error(Fault::usage, "rank 0 takes no more keys");
    case Outcome::absent:
      break;
  }
  throw connection_->nonsense();
}

std::optional<Blob> RendezvousClient::get(std::string_view key, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    const auto patience = std::clamp<std::chrono::milliseconds>(left, 0ms, kLongestGet);
    const Bytes reply =
        connection_->ask({.verb = Verb::get,
                          .patience_ms = static_cast<std::uint32_t>(patience.count()),
                          .key = key},
                         Clock::now() + patience + kAnswer);
    const auto outcome = narrowcast::get<Outcome>(reply);
    if (outcome == Outcome::done) return Blob(reply.begin() + 1, reply.end());
    if (outcome != Outcome::absent) throw connection_->nonsense();
    if (left <= kLongestGet) return std::nullopt;
  }
}

}  // namespace narrowcast
