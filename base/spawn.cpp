#include "base/spawn.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace narrowcast {
namespace {

// This process's variables, without those that are given anew.
std::vector<std::string> merged(const NamedValues& given) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (std::ranges::none_of(given, [&](const auto& pair) { return pair.first == name; }))
      all.emplace_back(text);
  }
  for (const auto& [name, value] : given) all.push_back(fmt::format("{}={}", name, value));
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

// What the child needs, made before the fork: after it, in a program with threads, nothing may be
// allocated.
struct Prepared {
  const Spawning& spawning;
  char* const* words;
  char* const* environment;
  pid_t parent;
  int report;  // where the child writes errno when it cannot become the program
};

[[noreturn]] void become_program(const Prepared& prepared) {
  const Spawning& spawning = prepared.spawning;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != prepared.parent) _exit(1);  // it ended before the line above
  const bool ready =
      dup2(spawning.in, STDIN_FILENO) >= 0 && dup2(spawning.out, STDOUT_FILENO) >= 0 &&
      dup2(spawning.err, STDERR_FILENO) >= 0 &&
      std::ranges::all_of(spawning.descriptors, [](int fd) { return fcntl(fd, F_SETFD, 0) == 0; });
  if (ready) {
    sigprocmask(SIG_SETMASK, &spawning.blocked, nullptr);
    execve(spawning.program.c_str(), prepared.words, prepared.environment);
  }
  const int error = errno;
  const ssize_t written = write(prepared.report, &error, sizeof error);
  _exit(written == static_cast<ssize_t>(sizeof error) ? 127 : 126);
}

Error cannot_start(const std::string& program, int error) {
  return {Fault::system, fmt::format("cannot start {}: {}", program, std::strerror(error))};
}

}  // namespace

int spawn(const Spawning& spawning) {
  std::vector<std::string> words = {spawning.program};
  words.insert(words.end(), spawning.words.begin(), spawning.words.end());
  std::vector<std::string> environment = merged(spawning.environment);
  const std::vector<char*> word_pointers = pointers(words);
  const std::vector<char*> environment_pointers = pointers(environment);

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw cannot_start(spawning.program, errno);
  const Descriptor result(ends[0]);
  Descriptor report(ends[1]);
  const pid_t self = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw cannot_start(spawning.program, errno);
  if (pid == 0) {
    become_program({.spawning = spawning,
                    .words = word_pointers.data(),
                    .environment = environment_pointers.data(),
                    .parent = self,
                    .report = report.get()});
  }
  report.close();
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(result.get(), &error, sizeof error);  // nothing, once the program runs
  } while (got < 0 && errno == EINTR);
  if (got == 0) return pid;
  waitpid(pid, nullptr, 0);
  throw cannot_start(spawning.program, error);
}

}  // namespace narrowcast
