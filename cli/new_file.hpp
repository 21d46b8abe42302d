#pragma once

#include <string>

#include "base/bytes.hpp"

namespace narrowcast::cli {

// An open file, closed in the end.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  bool close();

 private:
  int number_;
};

// Fault::system, with the system's reason (errno).
[[noreturn]] void cannot_write(const std::string& path);

// The path is for the error message only.
void write_all(const Descriptor& file, Bytes bytes, const std::string& path);

// A file in the same folder as `path`, which takes that name once it is complete. Until then it is
// removed by whatever ends its life: the destructor, SIGHUP, SIGINT or SIGTERM. One at a time.
class NewFile {
 public:
  explicit NewFile(const std::string& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const Descriptor& file() const { return file_; }

  // With the access of the file that it replaces, or that any new file gets.
  void take_name();

 private:
  std::string path_;
  std::string name_;
  Descriptor file_;
};

}  // namespace narrowcast::cli
