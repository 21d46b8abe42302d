#include "transport/process/line_relay.hpp"

#include <fcntl.h>

#include <cerrno>
#include <string_view>

namespace narrowcast {
namespace {

// Who writes no line ends gets them from us after so many bytes.
constexpr std::size_t kLongestLine = std::size_t{64} << 10;

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // nobody is left to read it
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

LineRelay::LineRelay(Descriptor from, int to, std::string prefix)
    : from_(std::move(from)), to_(to), prefix_(std::move(prefix)) {
  fcntl(from_.get(), F_SETFL, O_NONBLOCK);
}

void LineRelay::pull() {
  char chunk[4096];
  while (is_open()) {
    const ssize_t got = read(from_.get(), chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) {
      if (!text_.empty()) text_ += '\n';
      from_.close();
    } else {
      text_.append(chunk, static_cast<std::size_t>(got));
    }
    if (text_.size() > kLongestLine && text_.find('\n') == std::string::npos) text_ += '\n';
    pass_on();
  }
}

void LineRelay::finish() {
  pull();
  if (!text_.empty()) text_ += '\n';
  pass_on();
  from_.close();
}

void LineRelay::pass_on() {
  std::string lines;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text_.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines += prefix_ + text_.substr(begin, end + 1 - begin);
  text_.erase(0, begin);
  write_all(to_, lines);  // at once, so that lines of several processes do not mix
}

}  // namespace narrowcast
