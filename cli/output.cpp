#include "cli/output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <utility>

#include "base/error.hpp"

namespace narrowcast::cli {
namespace {

[[noreturn]] void cannot_write(const std::string& path) {
  throw Error(Fault::system, "cannot write '" + path + "': " + std::strerror(errno));
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

void write_all(const Descriptor& file, Bytes bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) cannot_write(path);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

// Devices and pipes have no name to take over: they are written to as they are.
void write_through(const std::string& path, Bytes bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.number() < 0) cannot_write(path);
  write_all(file, bytes, path);
  if (!file.close()) cannot_write(path);
}

// The access that a file made by open() would get, or that the replaced one had.
mode_t access_for(const std::string& path) {
  struct stat existing = {};
  if (::stat(path.c_str(), &existing) == 0) return existing.st_mode & 07777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

// Takes the file away again unless it got its final name.
class NewFile {
 public:
  explicit NewFile(const std::string& path)
      : name_(path + ".XXXXXX"), file_(::mkostemp(name_.data(), O_CLOEXEC)), pending_(true) {
    if (file_.number() < 0) {
      pending_ = false;
      cannot_write(path);
    }
  }
  ~NewFile() {
    if (pending_) ::unlink(name_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const Descriptor& file() const { return file_; }

  void take_name(const std::string& path) {
    if (::fchmod(file_.number(), access_for(path)) != 0 || ::fsync(file_.number()) != 0 ||
        !file_.close() || ::rename(name_.c_str(), path.c_str()) != 0)
      cannot_write(path);
    pending_ = false;
  }

 private:
  std::string name_;
  Descriptor file_;
  bool pending_;
};

void replace_file(const std::string& path, Bytes bytes) {
  NewFile file(path);
  write_all(file.file(), bytes, path);
  file.take_name(path);
}

bool is_standard_output(const std::string& path) { return path.empty() || path == "-"; }

}  // namespace

void require_sink(const std::string& path, const Console& console) {
  require(!is_standard_output(path) || !console.terminals.out, Fault::usage,
          "binary data does not go to a terminal; redirect it or use -o FILE");
}

void write_bytes(const std::string& path, Bytes bytes, const Console& console) {
  require_sink(path, console);
  if (is_standard_output(path)) {
    console.out.write(reinterpret_cast<const char*>(bytes.data()),
                      static_cast<std::streamsize>(bytes.size()));
    return;
  }
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return write_through(path, bytes);
  // A symbolic link stays one: what it points to is replaced.
  const auto target = std::filesystem::weakly_canonical(path, ignored);
  replace_file(target.empty() ? path : target.string(), bytes);
}

}  // namespace narrowcast::cli
