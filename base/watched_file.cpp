#include <limits.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

#include "base/new_file.hpp"

namespace narrowcast {
namespace {

constexpr std::array<int, 3> kEndings = {SIGHUP, SIGINT, SIGTERM};

// What a signal handler can reach: the name to remove, and what was done about signals before.
// Both change only while the signals are blocked.
std::array<char, PATH_MAX> pending_name;
std::array<struct sigaction, kEndings.size()> former_actions;

// The action is the default one again by now, and the signal is blocked until this returns.
void remove_and_end(int signal) {
  ::unlink(pending_name.data());
  ::raise(signal);
}

class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t endings;
    ::sigemptyset(&endings);
    for (const int each : kEndings) ::sigaddset(&endings, each);
    ::pthread_sigmask(SIG_BLOCK, &endings, &former_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &former_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t former_;
};

void watch_signals() {
  struct sigaction action = {};
  action.sa_handler = remove_and_end;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < kEndings.size(); ++i) {
    ::sigaction(kEndings[i], nullptr, &former_actions[i]);
    // What is ignored stays so, as nohup wants it.
    if (former_actions[i].sa_handler != SIG_IGN) ::sigaction(kEndings[i], &action, nullptr);
  }
}

void unwatch_signals() {
  for (std::size_t i = 0; i < kEndings.size(); ++i)
    ::sigaction(kEndings[i], &former_actions[i], nullptr);
}

// Makes the file and has signals remove it, with no moment between the two.
std::unique_ptr<NewFile> watched(const std::string& path) {
  const SignalsBlocked blocked;
  auto file = std::make_unique<NewFile>(path);
  if (file->name().size() >= pending_name.size()) {
    errno = ENAMETOOLONG;
    cannot_write(path);
  }
  std::memcpy(pending_name.data(), file->name().c_str(), file->name().size() + 1);
  watch_signals();
  return file;
}

}  // namespace

WatchedFile::WatchedFile(const std::string& path) : file_(watched(path)) {}

WatchedFile::~WatchedFile() {
  const SignalsBlocked blocked;
  file_.reset();
  unwatch_signals();
}

}  // namespace narrowcast
