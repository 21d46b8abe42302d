#include "tests/transport/job.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>

namespace narrowcast::test {
namespace {

// A file without a name: it takes any amount, and nobody has to read it meanwhile.
class Capture {
 public:
  Capture() : fd_(memfd_create("capture", MFD_CLOEXEC)) {
    if (fd_ < 0) throw std::runtime_error("memfd_create failed");
  }
  ~Capture() { close(fd_); }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  int fd() const { return fd_; }

  std::string text() const {
    std::string text(static_cast<std::size_t>(lseek(fd_, 0, SEEK_END)), '\0');
    const ssize_t got = pread(fd_, text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(got));
    return text;
  }

 private:
  int fd_;
};

}  // namespace

Pipe::Pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  reading = Descriptor(ends[0]);
  writing = Descriptor(ends[1]);
}

Report run_job(Staffing staffing) {
  const Capture out;
  const Capture err;
  staffing.out = out.fd();
  staffing.err = err.fd();
  const auto start = std::chrono::steady_clock::now();
  Report report;
  {
    Workers workers(staffing);
    report.outcome = workers.wait();
  }
  report.took = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - start);
  report.out = out.text();
  report.err = err.text();
  return report;
}

}  // namespace narrowcast::test
