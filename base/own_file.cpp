#include "base/own_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>

#include "base/descriptor.hpp"

namespace narrowcast {

std::optional<std::string> read_own_file(const std::filesystem::path& file) {
  const Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status = {};
  if (!opened.is_open() || ::fstat(opened.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return std::nullopt;
  std::string text;
  for (std::array<char, 4096> part;;) {
    const ssize_t got = ::read(opened.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace narrowcast
