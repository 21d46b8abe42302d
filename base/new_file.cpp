#include "base/new_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/error.hpp"

namespace narrowcast {
namespace {

constexpr std::string_view kPrefix = ".nc-";
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz012345";
constexpr std::size_t kRandomLetters = 8;
constexpr mode_t kOwnerAlone = 0600;  // of what is not complete yet

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

// Short, because the name of the target may be as long as the file system allows.
std::string name_beside(const std::string& path) {
  std::array<unsigned char, kRandomLetters> dice = {};
  if (::getrandom(dice.data(), dice.size(), 0) != static_cast<ssize_t>(dice.size())) return "";
  std::string name = folder_of(path) + std::string(kPrefix);
  for (const unsigned char die : dice) name += kLetters[die % kLetters.size()];
  return name;
}

bool is_new_file(const std::string& name) {
  return name.size() == kPrefix.size() + kRandomLetters && name.starts_with(kPrefix) &&
         name.find_first_not_of(kLetters, kPrefix.size()) == std::string::npos;
}

// What open() would give a new file. umask() tells its value only by changing it, for all threads.
mode_t usual_access() {
  std::ifstream status("/proc/self/status");
  unsigned mask = 0;
  for (std::string word; status >> word;)
    if (word == "Umask:" && status >> std::oct >> mask) return 0666 & ~mask;
  return kOwnerAlone;
}

// Access rights of what is there, or that any new file gets.
mode_t access_of(const std::string& path) {
  struct stat existing = {};
  return ::stat(path.c_str(), &existing) == 0 ? existing.st_mode & 07777 : usual_access();
}

bool has_a_name(const Descriptor& file) {
  struct stat now = {};
  return ::fstat(file.get(), &now) == 0 && now.st_nlink > 0;
}

// A file without a writer is one that nobody holds the lock of. Where there are no locks, nothing
// is ever taken for abandoned.
bool lock(const Descriptor& file, int how) {
  while (::flock(file.get(), how) != 0)
    if (errno != EINTR) return false;
  return true;
}

// Opens a new file and stores its name. Between opening and locking it, someone may have taken it
// for abandoned; then there is another.
Descriptor open_new(const std::string& path, std::string& name) {
  for (;;) {
    name = name_beside(path);
    if (name.empty()) cannot_write(path);
    Descriptor file(::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerAlone));
    if (!file.is_open() && errno == EEXIST) continue;
    if (!file.is_open()) cannot_write(path);
    lock(file, LOCK_EX);
    if (has_a_name(file)) return file;
  }
}

// A name lasts when its folder is on the disk. A folder that may not be read cannot be opened for
// that, but its whole file system can be flushed.
bool flush_folder(const std::string& path, const Descriptor& file) {
  const std::string folder = folder_of(path);
  const Descriptor opened(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.is_open() && ::fsync(opened.get()) == 0) return true;
  return ::syncfs(file.get()) == 0;
}

}  // namespace

void cannot_write(const std::string& path) {
  throw Error(Fault::system, "cannot write '" + path + "': " + std::strerror(errno));
}

void write_all(const Descriptor& file, Bytes bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) cannot_write(path);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

NewFile::NewFile(std::string path) : path_(std::move(path)), file_(open_new(path_, name_)) {}

NewFile::~NewFile() {
  if (!name_.empty()) ::unlink(name_.c_str());
}

void NewFile::write(Bytes bytes) { write_all(file_, bytes, path_); }

void NewFile::write_at(std::uint64_t offset, Bytes bytes) {
  const off_t end = ::lseek(file_.get(), 0, SEEK_CUR);
  if (end < 0 || ::lseek(file_.get(), static_cast<off_t>(offset), SEEK_SET) < 0)
    cannot_write(path_);
  write(bytes);
  if (::lseek(file_.get(), end, SEEK_SET) < 0) cannot_write(path_);
}

void NewFile::take_name() {
  if (::fchmod(file_.get(), access_of(path_)) != 0 || ::fsync(file_.get()) != 0 ||
      ::rename(name_.c_str(), path_.c_str()) != 0)
    cannot_write(path_);
  name_.clear();
  if (!flush_folder(path_, file_) || !file_.close()) cannot_write(path_);
}

bool NewFile::take_free_name() {
  if (::fchmod(file_.get(), usual_access()) != 0) cannot_write(path_);
  if (::link(name_.c_str(), path_.c_str()) != 0) {
    if (errno != EEXIST) cannot_write(path_);
    return false;
  }
  ::unlink(std::exchange(name_, {}).c_str());
  return true;
}

void remove_abandoned_files(const std::filesystem::path& folder) {
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(folder, unreadable)) {
    if (!is_new_file(entry.path().filename().string())) continue;
    const Descriptor file(
        ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file.is_open() && lock(file, LOCK_EX | LOCK_NB)) ::unlink(entry.path().c_str());
  }
}

}  // namespace narrowcast
