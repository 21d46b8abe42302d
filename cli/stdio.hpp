#pragma once

#include <array>
#include <streambuf>

namespace narrowcast::cli {

// Whoever read our output has seen enough and closed the pipe: no fault of anybody.
struct ReaderLeft {};

// Standard output that says what went wrong: a failed write throws ReaderLeft, or an Error with the
// system's reason. For that the stream on top must have exceptions(badbit) set.
class OutputBuffer : public std::streambuf {
 public:
  explicit OutputBuffer(int descriptor);

 protected:
  int_type overflow(int_type c) override;
  int sync() override;
  std::streamsize xsputn(const char* text, std::streamsize count) override;

 private:
  void write_all(const char* text, std::size_t count);

  int descriptor_;
  std::array<char, 1 << 14> buffer_;
};

}  // namespace narrowcast::cli
