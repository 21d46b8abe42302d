#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <list>
#include <map>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "transport/rendezvous.hpp"
#include "transport/rendezvous_session.hpp"
#include "transport/rendezvous_socket.hpp"

namespace narrowcast {
namespace {

using namespace rendezvous;
using namespace std::chrono_literals;

constexpr auto kGreetingTime = 10s;  // within which a new connection says hello
constexpr auto kBreath = 100ms;      // before the next try when there is no room for a connection
constexpr std::size_t kReadAtOnce = 64 << 10;

using Values = std::map<std::string, Blob, std::less<>>;

// One connection: bytes that came and could not be used yet, and bytes that go when they can.
class Guest {
 public:
  Guest(Socket socket, const std::optional<JobKey>& key)
      : socket_(std::move(socket)), key_(key), hello_until_(Clock::now() + kGreetingTime) {}

  int fd() const { return socket_.fd(); }
  bool known() const { return known_; }
  bool has_output() const { return !out_.empty(); }
  Clock::time_point next_deadline() const {
    if (!known_) return hello_until_;
    return awaited_.empty() ? Clock::time_point::max() : await_until_;
  }

  // Each returns false when this guest has to go.
  // Nothing is read or served before the guest has taken its last reply, so what is kept for one
  // that asks and does not listen stays small.
  bool go_on(Values& values, std::size_t most_values) {
    return (has_output() ? write() : read()) && digest(values, most_values);
  }

  bool on_time(const Values& values) {
    if (!known_) return Clock::now() < hello_until_;
    if (!awaited_.empty()) answer_waiting(values);
    return true;
  }

 private:
  bool read() {
    const std::size_t had = in_.size();
    in_.resize(had + kReadAtOnce);
    const std::optional<std::size_t> count = read_some(socket_, MutableBytes(in_).subspan(had));
    in_.resize(had + count.value_or(0));
    return count.has_value();
  }

  bool write() {
    const std::optional<std::size_t> count = write_some(socket_, out_);
    if (count) out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(*count));
    return count.has_value();
  }

  bool digest(Values& values, std::size_t most_values) {
    if (!known_ && in_.size() >= sizeof(Greeting) && !greet()) return false;
    while (known_ && out_.empty() && in_.size() >= sizeof(std::uint32_t)) {
      // Requests and replies take turns: whoever asks again before the reply is none of ours.
      if (!awaited_.empty()) return false;
      const auto rest = session_.rest_of_frame(get<std::uint32_t>(in_));
      if (!rest) return false;
      const std::size_t whole = sizeof(std::uint32_t) + *rest;
      if (in_.size() < whole) break;
      const auto body = session_.open(Bytes(in_).subspan(sizeof(std::uint32_t), *rest));
      const auto request = body ? parse_request(*body) : std::nullopt;
      if (!request || !serve(*request, values, most_values)) return false;
      in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(whole));
    }
    return true;
  }

  bool greet() {
    const auto theirs = get<Greeting>(in_);
    if (theirs.magic != kMagic) return false;
    Answer answer;
    answer.greeting = make_greeting(key_);
    if (key_) {
      session_ = Session(End::server, *key_, theirs, answer.greeting);
      answer.proof = session_.proof();
    }
    const Bytes bytes = std::as_bytes(std::span(&answer, 1));
    out_.insert(out_.end(), bytes.begin(), bytes.end());
    in_.erase(in_.begin(), in_.begin() + sizeof(Greeting));
    known_ = true;
    return true;
  }

  bool serve(const Request& request, Values& values, std::size_t most_values) {
    const std::string key(request.key);
    if (request.verb == Verb::get) {
      if (key.empty()) return false;
      awaited_ = key;
      await_until_ = Clock::now() + std::chrono::milliseconds(request.patience_ms);
      answer_waiting(values);
      return true;
    }
    if (request.value.size() > kLongestValue) return false;
    Outcome outcome = Outcome::full;
    if (values.contains(key))
      outcome = Outcome::taken;
    else if (values.size() < most_values)
      outcome = Outcome::done;
    if (outcome == Outcome::done)
      values.emplace(key, Blob(request.value.begin(), request.value.end()));
    reply(outcome, {});
    return true;
  }

  void answer_waiting(const Values& values) {
    const auto found = values.find(awaited_);
    if (found == values.end() && Clock::now() < await_until_) return;
    awaited_.clear();
    if (found == values.end())
      reply(Outcome::absent, {});
    else
      reply(Outcome::done, found->second);
  }

  void reply(Outcome outcome, Bytes value) {
    Blob body(1 + value.size());
    copy(value, put(body, outcome));
    session_.close(body, out_);
  }

  Socket socket_;
  const std::optional<JobKey>& key_;
  Clock::time_point hello_until_;
  bool known_ = false;
  Session session_;
  Blob in_;
  Blob out_;
  std::string awaited_;  // the key that this guest waits for; empty: none
  Clock::time_point await_until_;
};

Socket make_listening(const RendezvousOptions& options) {
  if (options.listening >= 0) return adopt_listening(options.listening);
  return listen_at({options.host, options.port});
}

}  // namespace

class RendezvousServer::Serving {
 public:
  explicit Serving(const RendezvousOptions& options)
      : key_(options.key),
        most_guests_(2 * static_cast<std::size_t>(options.ranks) + 16),
        most_values_(4 * static_cast<std::size_t>(options.ranks) + 16),
        listening_(make_listening(options)),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        thread_([this] { run(); }) {}

  ~Serving() {
    stopping_ = true;
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake_.fd(), &one, sizeof one);
    thread_.join();
  }
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  std::uint16_t port() const { return port_of(listening_); }

 private:
  void run() {
    while (!stopping_) {
      const bool admitting = Clock::now() >= admit_from_;
      const std::int16_t arrivals = admitting ? POLLIN : 0;
      std::vector<pollfd> polled = {{listening_.fd(), arrivals, 0}, {wake_.fd(), POLLIN, 0}};
      auto deadline = admitting ? Clock::time_point::max() : admit_from_;
      for (const Guest& guest : guests_) {
        const std::int16_t events = guest.has_output() ? POLLOUT : POLLIN;
        polled.push_back({guest.fd(), events, 0});
        deadline = std::min(deadline, guest.next_deadline());
      }
      const int patience = deadline == Clock::time_point::max() ? -1 : poll_time(deadline);
      if (poll(polled.data(), polled.size(), patience) < 0) continue;
      serve(polled);
      if ((polled[0].revents & POLLIN) != 0) admit();
    }
  }

  void serve(const std::vector<pollfd>& polled) {
    std::size_t i = 2;
    for (auto guest = guests_.begin(); guest != guests_.end(); ++i) {
      const bool stays = polled[i].revents == 0 || guest->go_on(values_, most_values_);
      guest = stays ? std::next(guest) : guests_.erase(guest);
    }
    // After all have been served: what one has set another may be waiting for.
    std::erase_if(guests_, [&](Guest& guest) { return !guest.on_time(values_); });
  }

  void admit() {
    Socket socket(accept4(listening_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      // Without a descriptor to spare the newcomer stays in the queue, and poll would return at once.
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        admit_from_ = Clock::now() + kBreath;
      return;
    }
    if (guests_.size() >= most_guests_) {
      // Whoever has waited longest without a hello makes room; if all have said it, nobody does.
      const auto idle = std::ranges::find_if(guests_, [](const Guest& g) { return !g.known(); });
      if (idle == guests_.end()) return;
      guests_.erase(idle);
    }
    guests_.emplace_back(std::move(socket), key_);
  }

  std::optional<JobKey> key_;
  std::size_t most_guests_;
  std::size_t most_values_;
  Socket listening_;
  Socket wake_;
  std::list<Guest> guests_;
  Values values_;
  Clock::time_point admit_from_;  // newcomers wait until then
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

RendezvousServer::RendezvousServer(const RendezvousOptions& options)
    : serving_(std::make_unique<Serving>(options)) {}

RendezvousServer::~RendezvousServer() = default;

std::uint16_t RendezvousServer::port() const { return serving_->port(); }

}  // namespace narrowcast
