#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <list>
#include <thread>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "transport/rendezvous.hpp"
#include "transport/rendezvous_dialogue.hpp"
#include "transport/rendezvous_socket.hpp"

namespace narrowcast {
namespace {

using namespace rendezvous;
using namespace std::chrono_literals;

constexpr auto kBreath = 100ms;  // before the next try when there is no room for a connection
constexpr std::size_t kReadAtOnce = 64 << 10;

// One connection.
class Guest {
 public:
  Guest(Socket socket, const RendezvousOptions& options)
      : socket_(std::move(socket)),
        dialogue_(options.key),
        proof_until_(Clock::now() + options.proof_time) {}

  int fd() const { return socket_.fd(); }
  bool proven() const { return dialogue_.proven(); }
  bool has_output() const { return !dialogue_.to_say().empty(); }
  Clock::time_point next_deadline() const {
    return proven() ? dialogue_.next_look() : std::min(proof_until_, dialogue_.next_look());
  }

  // Each returns false when this guest has to go.
  bool go_on(Pinboard& board) {
    if (has_output()) {
      const std::optional<std::size_t> count = write_some(socket_, dialogue_.to_say());
      return count && dialogue_.said(*count, board);
    }
    std::vector<std::byte> some(kReadAtOnce);
    const std::optional<std::size_t> count = read_some(socket_, some);
    return count && dialogue_.hear(Bytes(some).first(*count), board);
  }

  bool on_time(const Pinboard& board) {
    dialogue_.look(board);
    return proven() || Clock::now() < proof_until_;
  }

 private:
  Socket socket_;
  Dialogue dialogue_;
  Clock::time_point proof_until_;
};

Socket make_listening(const RendezvousOptions& options) {
  if (options.listening >= 0) return adopt_listening(options.listening);
  return listen_at({options.host, options.port});
}

Descriptor make_wake() {
  Descriptor wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  // Without one nobody could end the thread.
  require(wake.is_open(), Fault::system, "rank 0 has no descriptor left to serve the others with");
  return wake;
}

}  // namespace

class RendezvousServer::Serving {
 public:
  explicit Serving(const RendezvousOptions& options)
      : options_(options),
        most_guests_(2 * static_cast<std::size_t>(options.ranks) + 16),
        board_{.most = 4 * static_cast<std::size_t>(options.ranks) + 16},
        listening_(make_listening(options)),
        wake_(make_wake()),
        thread_([this] { run(); }) {}

  ~Serving() {
    stopping_ = true;
    eventfd_write(wake_.get(), 1);
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
      std::vector<pollfd> polled = {{listening_.fd(), arrivals, 0}, {wake_.get(), POLLIN, 0}};
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
      const bool stays = polled[i].revents == 0 || guest->go_on(board_);
      guest = stays ? std::next(guest) : guests_.erase(guest);
    }
    // After all have been served: what one has set another may be waiting for.
    std::erase_if(guests_, [&](Guest& guest) { return !guest.on_time(board_); });
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
      // Whoever has been here longest without a proof makes room; if all have given one, nobody does.
      const auto idle = std::ranges::find_if(guests_, [](const Guest& g) { return !g.proven(); });
      if (idle == guests_.end()) return;
      guests_.erase(idle);
    }
    guests_.emplace_back(std::move(socket), options_);
  }

  const RendezvousOptions options_;
  std::size_t most_guests_;
  Pinboard board_;
  Socket listening_;
  Descriptor wake_;
  std::list<Guest> guests_;
  Clock::time_point admit_from_;  // newcomers wait until then
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

RendezvousServer::RendezvousServer(const RendezvousOptions& options)
    : serving_(std::make_unique<Serving>(options)) {}

RendezvousServer::~RendezvousServer() = default;

std::uint16_t RendezvousServer::port() const { return serving_->port(); }

}  // namespace narrowcast
