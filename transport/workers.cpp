#include "transport/workers.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/spawn.hpp"
#include "transport/process/line_relay.hpp"

namespace narrowcast {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPeerFault = 4;  // what a rank exits with when another died (docs/architecture.md)

Error failed(const char* what) {
  return {Fault::system, fmt::format("{}: {}", what, std::strerror(errno))};
}

// Keeps SIGINT and SIGTERM from the thread, to be read from a descriptor instead.
class Signals {
 public:
  Signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, &before_);
    fd_ = Descriptor(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~Signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int fd() const { return fd_.get(); }
  const sigset_t& before() const { return before_; }

  std::optional<int> next() const {
    signalfd_siginfo info;
    if (read(fd_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info))
      return std::nullopt;
    return static_cast<int>(info.ssi_signo);
  }

 private:
  sigset_t before_;
  Descriptor fd_;
};

struct Worker {
  int rank;
  int pid;
  Descriptor process;
  LineRelay errors;
  bool running = true;
};

NamedValues variables(const Staffing& staffing, int rank) {
  NamedValues all = {{"RANK", std::to_string(rank)},
                     {"WORLD_SIZE", std::to_string(staffing.ranks)},
                     {"LOCAL_RANK", std::to_string(rank)},
                     {"LOCAL_WORLD_SIZE", std::to_string(staffing.ranks)},
                     {"NARROWCAST_TRANSPORT", staffing.transport},
                     {"NARROWCAST_RENDEZVOUS", staffing.rendezvous}};
  const auto add = [&](const NamedValues& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  add(staffing.everyone.environment);
  if (rank == 0) add(staffing.rank0.environment);
  return all;
}

std::vector<int> descriptors(const Staffing& staffing, int rank) {
  std::vector<int> all = staffing.everyone.descriptors;
  if (rank == 0)
    all.insert(all.end(), staffing.rank0.descriptors.begin(), staffing.rank0.descriptors.end());
  return all;
}

Worker start(const Staffing& staffing, int rank, const sigset_t& blocked) {
  const Descriptor nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  int ends[2];
  if (!nothing.is_open() || pipe2(ends, O_CLOEXEC) != 0) throw failed("no pipe for a rank");
  LineRelay errors(Descriptor{ends[0]}, staffing.err, fmt::format("rank {}: ", rank));
  const Descriptor writing(ends[1]);
  const int pid = spawn({.program = staffing.program,
                         .words = staffing.words_of ? staffing.words_of(rank) : staffing.words,
                         .environment = variables(staffing, rank),
                         .descriptors = descriptors(staffing, rank),
                         .in = rank == 0 ? STDIN_FILENO : nothing.get(),
                         .out = rank == 0 ? staffing.out : nothing.get(),
                         .err = writing.get(),
                         .blocked = blocked});
  Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process.is_open()) {
    const int error = errno;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    throw Error(Fault::system, fmt::format("cannot follow a rank: {}", std::strerror(error)));
  }
  return {.rank = rank, .pid = pid, .process = std::move(process), .errors = std::move(errors)};
}

}  // namespace

std::optional<int> Outcome::first_failed() const {
  for (const int rank : order)
    if (endings[static_cast<std::size_t>(rank)].failed()) return rank;
  return std::nullopt;
}

int Outcome::exit_code() const {
  if (interrupted) return 128 + *interrupted;
  if (!first_failed()) return 0;
  for (const int rank : order) {
    const Ending& ending = endings[static_cast<std::size_t>(rank)];
    // Whoever complains of a peer only follows one that had a reason of its own.
    if (ending.code != 0 && ending.code != kPeerFault) return ending.code;
  }
  return kPeerFault;
}

class Workers::Crew {
 public:
  explicit Crew(const Staffing& staffing) : grace_(staffing.grace), farewell_(staffing.farewell) {
    if (staffing.ranks < 1)
      throw Error(Fault::usage, fmt::format("a job has 1 rank or more, not {}", staffing.ranks));
    outcome_.endings.resize(static_cast<std::size_t>(staffing.ranks));
    try {
      for (int rank = 0; rank < staffing.ranks; ++rank)
        workers_.push_back(start(staffing, rank, signals_.before()));
    } catch (...) {
      end_all();
      throw;
    }
  }
  ~Crew() { end_all(); }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  int pid(int rank) const { return workers_.at(static_cast<std::size_t>(rank)).pid; }

  Outcome wait() {
    while (is_anyone_running()) {
      await_news();
      while (const std::optional<int> signal = signals_.next()) interrupt(*signal);
      for (Worker& worker : workers_) worker.errors.pull();
      reap();
      if (outcome_.first_failed()) begin_grace();
      if (kill_at_ && Clock::now() >= *kill_at_) {
        signal_all(SIGKILL);
        kill_at_ = Clock::now() + grace_;
      }
    }
    return outcome_;
  }

 private:
  bool is_anyone_running() const { return std::ranges::any_of(workers_, &Worker::running); }

  void await_news() const {
    std::vector<pollfd> news = {{.fd = signals_.fd(), .events = POLLIN, .revents = 0}};
    for (const Worker& worker : workers_) {
      if (worker.running)
        news.push_back({.fd = worker.process.get(), .events = POLLIN, .revents = 0});
      if (worker.errors.is_open())
        news.push_back({.fd = worker.errors.fd(), .events = POLLIN, .revents = 0});
    }
    int patience = -1;
    if (kill_at_) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*kill_at_ - Clock::now());
      patience = std::max(0, static_cast<int>(left.count()));
    }
    poll(news.data(), news.size(), patience);
  }

  // The first signal is passed on; a second one ends the patience.
  void interrupt(int signal) {
    if (outcome_.interrupted) {
      kill_at_ = Clock::now();
      return;
    }
    outcome_.interrupted = signal;
    signal_all(signal);
    if (!kill_at_) kill_at_ = Clock::now() + farewell_;
  }

  void begin_grace() {
    kill_at_ = std::min(kill_at_.value_or(Clock::time_point::max()), Clock::now() + grace_);
  }

  void signal_all(int signal) const {
    for (const Worker& worker : workers_)
      if (worker.running) kill(worker.pid, signal);
  }

  // Of those that are found together, the killed ones come first: the others ended because of them.
  void reap() {
    std::vector<int> exited;
    for (Worker& worker : workers_) {
      int status = 0;
      if (!worker.running || waitpid(worker.pid, &status, WNOHANG) != worker.pid) continue;
      worker.running = false;
      worker.errors.finish();
      Ending& ending = outcome_.endings[static_cast<std::size_t>(worker.rank)];
      if (WIFSIGNALED(status)) {
        ending.signal = WTERMSIG(status);
        outcome_.order.push_back(worker.rank);
      } else {
        ending.code = WEXITSTATUS(status);
        exited.push_back(worker.rank);
      }
    }
    outcome_.order.insert(outcome_.order.end(), exited.begin(), exited.end());
  }

  void end_all() noexcept {
    signal_all(SIGKILL);
    for (Worker& worker : workers_) {
      if (worker.running) waitpid(worker.pid, nullptr, 0);
      worker.running = false;
    }
  }

  std::chrono::milliseconds grace_;
  std::chrono::milliseconds farewell_;
  Signals signals_;
  std::vector<Worker> workers_;
  std::optional<Clock::time_point> kill_at_;
  Outcome outcome_;
};

Workers::Workers(const Staffing& staffing) : crew_(std::make_unique<Crew>(staffing)) {}

Workers::~Workers() = default;

int Workers::pid(int rank) const { return crew_->pid(rank); }

Outcome Workers::wait() { return crew_->wait(); }

}  // namespace narrowcast
