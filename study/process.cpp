#include "study/process.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/spawn.hpp"

namespace narrowcast {
namespace {

using Clock = std::chrono::steady_clock;

// To finish a step and to write what it keeps, after it was asked to stop.
constexpr auto kFarewell = std::chrono::seconds(150);
constexpr std::size_t kMostErrors = 16'384;

Error system_error(const std::string& what) {
  return {Fault::system, fmt::format("{}: {}", what, std::strerror(errno))};
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double children_seconds() {
  rusage usage = {};
  getrusage(RUSAGE_CHILDREN, &usage);
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

class Child {
 public:
  Child(const ProcessWish& wish, const StopSignals& signals)
      : signals_(signals), deadline_(Clock::now() + wish.deadline), before_(children_seconds()) {
    const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
    // Not blocking: a pipe that nobody reads is refused.
    const Descriptor output(open(wish.output.c_str(),
                                 O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                                 0600));
    if (!output.is_open()) throw system_error(wish.output.string());
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw system_error("a pipe");
    errors_ = Descriptor(ends[0]);
    const Descriptor write_end(ends[1]);
    fcntl(errors_.get(), F_SETFL, O_NONBLOCK);
    // env finds the program in PATH.
    const bool has_path = wish.words.front().find('/') != std::string::npos;
    Spawning spawning;
    spawning.program = has_path ? wish.words.front() : "/usr/bin/env";
    spawning.words.assign(wish.words.begin() + (has_path ? 1 : 0), wish.words.end());
    spawning.in = nothing.get();
    spawning.out = output.get();
    spawning.err = write_end.get();
    spawning.blocked = signals.before();
    pid_ = spawn(spawning);
    process_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    if (!process_.is_open()) throw system_error("watching a process");
  }
  ~Child() {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  ProcessEnd wait() {
    while (!has_ended()) look();
    take_errors();
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    if (WIFSIGNALED(status)) end_.signal = WTERMSIG(status);
    if (WIFEXITED(status)) end_.code = WEXITSTATUS(status);
    end_.cpu_seconds = children_seconds() - before_;
    return std::move(end_);
  }

 private:
  bool has_ended() const {
    pollfd one = {process_.get(), POLLIN, 0};
    return poll(&one, 1, 0) > 0;
  }

  void look() {
    std::array<pollfd, 3> all = {pollfd{process_.get(), POLLIN, 0},
                                 pollfd{signals_.fd(), POLLIN, 0},
                                 pollfd{errors_.get(), POLLIN, 0}};
    poll(all.data(), errors_.is_open() ? 3 : 2, 200);
    take_errors();
    if (const auto signal = signals_.next()) {
      // The second one is meant.
      kill(pid_, end_.interrupted ? SIGKILL : *signal);
      end_.interrupted = *signal;
      deadline_ = std::min(deadline_, Clock::now() + kFarewell);
    }
    if (Clock::now() < deadline_) return;
    // Who was asked to stop, and has had the time for it, is not asked again.
    kill(pid_, end_.late || end_.interrupted ? SIGKILL : SIGTERM);
    end_.late = !end_.interrupted;
    deadline_ = Clock::now() + std::chrono::seconds(10);
  }

  void take_errors() {
    std::array<char, 4096> some;
    ssize_t got = 0;
    while (errors_.is_open() && (got = read(errors_.get(), some.data(), some.size())) > 0)
      end_.errors.append(some.data(), static_cast<std::size_t>(got));
    if (got == 0) errors_.close();
    if (end_.errors.size() > kMostErrors) end_.errors.erase(0, end_.errors.size() - kMostErrors);
  }

  const StopSignals& signals_;
  Clock::time_point deadline_;
  double before_;
  Descriptor errors_;
  Descriptor process_;
  int pid_ = 0;
  ProcessEnd end_;
};

}  // namespace

StopSignals::StopSignals() {
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGINT);
  sigaddset(&both, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &both, &before_);
  fd_ = Descriptor(signalfd(-1, &both, SFD_CLOEXEC | SFD_NONBLOCK));
}

StopSignals::~StopSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

std::optional<int> StopSignals::next() const {
  signalfd_siginfo info;
  if (read(fd_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

ProcessEnd run_process(const ProcessWish& wish, const StopSignals& signals) {
  return Child(wish, signals).wait();
}

double busy_seconds_of_machine() {
  std::ifstream file("/proc/stat");
  std::string name;
  std::array<double, 8> ticks = {};  // user nice system idle iowait irq softirq steal
  file >> name;
  for (double& each : ticks) file >> each;
  const double busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7];
  return busy / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace narrowcast
