#include "cli/stdio.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.hpp"

namespace narrowcast::cli {

OutputBuffer::OutputBuffer(int descriptor) : descriptor_(descriptor) {
  setp(buffer_.data(), buffer_.data() + buffer_.size());
}

OutputBuffer::int_type OutputBuffer::overflow(int_type c) {
  sync();
  if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
  return traits_type::not_eof(c);
}

int OutputBuffer::sync() {
  const auto count = static_cast<std::size_t>(pptr() - pbase());
  setp(buffer_.data(), buffer_.data() + buffer_.size());  // a failed write is not tried again
  write_all(buffer_.data(), count);
  return 0;
}

std::streamsize OutputBuffer::xsputn(const char* text, std::streamsize count) {
  if (count < epptr() - pptr()) return std::streambuf::xsputn(text, count);
  sync();
  write_all(text, static_cast<std::size_t>(count));
  return count;
}

void OutputBuffer::write_all(const char* text, std::size_t count) {
  while (count > 0) {
    const ssize_t written = ::write(descriptor_, text, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) throw ReaderLeft();
    if (written < 0)
      throw Error(Fault::system, std::string("cannot write the output: ") + std::strerror(errno));
    text += written;
    count -= static_cast<std::size_t>(written);
  }
}

}  // namespace narrowcast::cli
