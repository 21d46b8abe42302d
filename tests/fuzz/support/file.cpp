#include "tests/fuzz/support/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

namespace narrowcast::fuzz {

namespace fs = std::filesystem;

Folder::Folder() {
  const fs::path base = fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path();
  std::string name = (base / "fuzzed-file-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) std::abort();
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

File::File(fs::path path) : path_(std::move(path)) {
  fs::create_directories(path_.parent_path());
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd_ < 0) std::abort();
}

File::~File() { ::close(fd_); }

const fs::path& File::holding(Bytes bytes) {
  if (::pwrite(fd_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()) ||
      ::ftruncate(fd_, static_cast<off_t>(bytes.size())) != 0)
    std::abort();
  return path_;
}

}  // namespace narrowcast::fuzz
