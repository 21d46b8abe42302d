#include "cli/new_file.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace narrowcast::cli {
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

// Short, because the name of the target may be as long as the file system allows.
std::string name_beside(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return (slash == std::string::npos ? "" : path.substr(0, slash + 1)) + ".nc-XXXXXX";
}

// Makes the file and has signals remove it, with no moment between the two.
int open_watched(std::string& name) {
  const SignalsBlocked blocked;
  if (name.size() >= pending_name.size()) {
    errno = ENAMETOOLONG;
    return -1;
  }
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return file;
  std::memcpy(pending_name.data(), name.c_str(), name.size() + 1);
  watch_signals();
  return file;
}

mode_t access_for(const std::string& path) {
  struct stat existing = {};
  if (::stat(path.c_str(), &existing) == 0) return existing.st_mode & 07777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

bool Descriptor::close() { return ::close(std::exchange(number_, -1)) == 0; }

void cannot_write(const std::string& path) {
  throw Error(Fault::system, "cannot write '" + path + "': " + std::strerror(errno));
}

void write_all(const Descriptor& file, Bytes bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) cannot_write(path);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

NewFile::NewFile(const std::string& path)
    : path_(path), name_(name_beside(path)), file_(open_watched(name_)) {
  if (file_.number() < 0) cannot_write(path);
}

NewFile::~NewFile() {
  const SignalsBlocked blocked;
  if (!name_.empty()) ::unlink(name_.c_str());
  unwatch_signals();
}

void NewFile::take_name() {
  if (::fchmod(file_.number(), access_for(path_)) != 0 || ::fsync(file_.number()) != 0 ||
      !file_.close() || ::rename(name_.c_str(), path_.c_str()) != 0)
    cannot_write(path_);
  name_.clear();
}

}  // namespace narrowcast::cli
