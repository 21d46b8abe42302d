#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "transport/environment.hpp"

namespace narrowcast {
namespace {

constexpr std::size_t kDigits = 2 * std::tuple_size_v<JobKey>;

Error refused(const std::filesystem::path& file, std::string_view why) {
  return {Fault::usage, fmt::format("the job key {} {}", file.string(), why)};
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_key(const std::string& word) {
  return word.size() == kDigits && std::ranges::all_of(word, [](char c) { return digit(c) >= 0; });
}

// At most one byte more than the longest key file has, so that a longer one shows.
std::string contents(const std::filesystem::path& file) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 && is_key(file.native()))
    throw Error(
        Fault::usage,
        "the job key itself was given where the name of its file belongs: by now it may be in "
        "logs, make another");
  if (fd < 0) throw refused(file, fmt::format("cannot be read: {}", std::strerror(errno)));
  struct stat about = {};
  const bool known = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
  std::string text(kDigits + 2, '\0');
  const ssize_t length = known ? read(fd, text.data(), text.size()) : -1;
  close(fd);
  if (length < 0) throw refused(file, "is no readable file");
  if (about.st_uid != geteuid() && about.st_uid != 0)
    throw refused(file, fmt::format("belongs to somebody else (user {})", about.st_uid));
  if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    throw refused(file, fmt::format("is open to others: chmod 600 {}", file.string()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

}  // namespace

JobKey read_job_key(const std::filesystem::path& file) {
  std::string text = contents(file);
  JobKey key;
  if (text.size() == key.size()) {
    std::memcpy(key.data(), text.data(), key.size());
    return key;
  }
  if (text.size() == kDigits + 1 && text.back() == '\n') text.pop_back();
  bool good = text.size() == kDigits;
  for (std::size_t i = 0; good && i < key.size(); ++i) {
    const int high = digit(text[2 * i]);
    const int low = digit(text[2 * i + 1]);
    good = high >= 0 && low >= 0;
    key[i] = static_cast<std::byte>(high * 16 + low);
  }
  if (!good) throw refused(file, "has neither 64 hexadecimal digits nor 32 bytes");
  return key;
}

}  // namespace narrowcast
