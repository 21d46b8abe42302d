// What only the real process has: its environment, exit code and pipes.
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "tests/cli/run_command.hpp"
#include "tests/support/places.hpp"

namespace narrowcast::cli::test {
namespace {

struct Ended {
  int code = -1;
  std::string output;
};

// Runs a line of shell in which $narrowcast is the program.
Ended shell(const std::string& line) {
  const std::string command =
      "narrowcast='" + narrowcast::test::program_file().string() + "'; " + line;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  Ended ended;
  std::array<char, 4096> buffer;
  for (std::size_t read = 0; (read = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    ended.output.append(buffer.data(), read);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  return ended;
}

TEST(Process, ForcesTheTargetOfTheEnvironment) {
  const Ended ended = shell("NARROWCAST_TARGET=scalar \"$narrowcast\" --version");
  EXPECT_EQ(0, ended.code);
  EXPECT_NE(std::string::npos, ended.output.find("scalar")) << ended.output;
}

TEST(Process, RefusesATargetThatDoesNotExist) {
  const Ended ended = shell("NARROWCAST_TARGET=abacus \"$narrowcast\" codecs 2>&1");
  EXPECT_EQ(2, ended.code);
  EXPECT_NE(std::string::npos, ended.output.find("scalar")) << ended.output;
  EXPECT_EQ(ended.output.size() - 1, ended.output.find('\n')) << ended.output;
}

// Standard output is a pipe whose other end is closed before the program starts; what it says on
// standard error is in Ended::output.
Ended without_reader(const char* word) {
  std::array<int, 2> unread;
  std::array<int, 2> errors;
  const std::string program = narrowcast::test::program_file().string();
  if (::pipe(unread.data()) != 0 || ::pipe(errors.data()) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(unread[1], STDOUT_FILENO);
    ::dup2(errors[1], STDERR_FILENO);
    for (const int each : {unread[0], unread[1], errors[0], errors[1]}) ::close(each);
    ::execl(program.c_str(), program.c_str(), word, nullptr);
    ::_exit(127);
  }
  for (const int each : {unread[0], unread[1], errors[1]}) ::close(each);
  Ended ended;
  std::array<char, 4096> buffer;
  for (ssize_t read = 0; (read = ::read(errors[0], buffer.data(), buffer.size())) > 0;)
    ended.output.append(buffer.data(), static_cast<std::size_t>(read));
  ::close(errors[0]);
  int status = 0;
  if (::waitpid(child, &status, 0) == child && WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  return ended;
}

TEST(Process, LeavesQuietlyWhenNobodyReads) {
  const Ended ended = without_reader("codecs");
  EXPECT_EQ(0, ended.code);
  EXPECT_EQ("", ended.output);
}

TEST(Process, SaysWhyOutputWasLost) {
  const Ended ended = shell("\"$narrowcast\" codecs 2>&1 >/dev/full");
  EXPECT_EQ(5, ended.code);
  EXPECT_EQ("narrowcast: cannot write the output: No space left on device\n", ended.output);
}

TEST(Process, TurnsFloatsIntoAFrameAndBack) {
  const Ended ended = shell(
      "printf '\\0\\0\\200\\077' | \"$narrowcast\" encode fp32 | \"$narrowcast\" decode | od -tf4 "
      "-An");
  EXPECT_EQ(0, ended.code);
  EXPECT_NE(std::string::npos, ended.output.find(" 1\n")) << ended.output;
}

TEST(Process, AddsToWhatItsOutputHolds) {
  for (const char* name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    const TemporaryFolder folder;
    const std::string log = (folder / "log").string();
    const Ended ended = shell("echo header > '" + log + "'; \"$narrowcast\" encode fp32 -o " +
                              name + " </dev/null >> '" + log + "'; cat '" + log + "'");
    EXPECT_EQ(0, ended.code) << name;
    EXPECT_TRUE(ended.output.starts_with("header\n\x8eNCF")) << name;
    EXPECT_EQ(1u, folder.files()) << name;
  }
}

TEST(Process, LeavesNothingBehindWhenAFileGetsTooLarge) {
  const TemporaryFolder folder;
  const Ended ended =
      shell("ulimit -f 1; head -c 8192 /dev/zero | \"$narrowcast\" encode fp32 -o '" +
            (folder / "frame").string() + "' 2>&1");
  EXPECT_EQ(5, ended.code);
  EXPECT_NE(std::string::npos, ended.output.find("File too large")) << ended.output;
  EXPECT_EQ(ended.output.size() - 1, ended.output.find('\n')) << ended.output;
  EXPECT_EQ(0u, folder.files());
}

TEST(Process, TakesTheTargetInAnyCase) {
  const Ended ended = shell("NARROWCAST_TARGET=ScaLAR \"$narrowcast\" --version");
  EXPECT_EQ(0, ended.code);
  EXPECT_NE(std::string::npos, ended.output.find("CPU target scalar")) << ended.output;
}

TEST(Process, HandsOutTheCodeOfTheFault) {
  EXPECT_EQ(2, shell("\"$narrowcast\" frobnicate 2>/dev/null").code);
  EXPECT_EQ(3, shell("\"$narrowcast\" decode </dev/null 2>/dev/null").code);
  EXPECT_EQ(5, shell("\"$narrowcast\" decode /no/such/file 2>/dev/null").code);
}

}  // namespace
}  // namespace narrowcast::cli::test
