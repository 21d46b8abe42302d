#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/bytes.hpp"
#include "base/descriptor.hpp"

namespace narrowcast {

// Fault::system, with the system's reason (errno).
[[noreturn]] void cannot_write(const std::string& path);

// The path is for the error message only.
void write_all(const Descriptor& file, Bytes bytes, const std::string& path);

// A file in the same folder as `path`, which takes that name once it is complete. Until then it has
// a name that nobody can guess, nobody else can read it, and the destructor removes it. A link that is
// at `path` is replaced, not followed. Errors are Fault::system and name `path`.
class NewFile {
 public:
  explicit NewFile(std::string path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // The name that it has until it takes the other.
  const std::string& name() const { return name_; }

  void write(Bytes bytes);
  // Over what was written before.
  void write_at(std::uint64_t offset, Bytes bytes);

  // With the access of the file that it replaces, or that any new file gets. When this returns, the
  // file and its name are on the disk.
  void take_name();

  // Takes the name unless something has it already: then false, and nothing has changed. Of several
  // processes that try, one succeeds. Nothing is flushed to the disk.
  bool take_free_name();

 private:
  std::string path_;
  std::string name_;
  Descriptor file_;
};

// The same for programs without signal handlers of their own: SIGHUP, SIGINT and SIGTERM remove the
// file, too, before they end the process. One at a time.
class WatchedFile {
 public:
  explicit WatchedFile(const std::string& path);
  ~WatchedFile();
  WatchedFile(const WatchedFile&) = delete;
  WatchedFile& operator=(const WatchedFile&) = delete;

  NewFile* operator->() { return file_.get(); }

 private:
  std::unique_ptr<NewFile> file_;
};

// Removes the new files in a folder whose writers died before they took their names.
void remove_abandoned_files(const std::filesystem::path& folder);

}  // namespace narrowcast
