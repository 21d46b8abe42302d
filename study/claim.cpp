// A claim is a file that only one process can have made (link), with the machine and the process in it from its first
// moment on: "host pid boot namespace". Its time of change is the sign of life.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "base/new_file.hpp"
#include "base/own_file.hpp"
#include "study/folder.hpp"

namespace narrowcast {

namespace fs = std::filesystem;

namespace {

constexpr auto kSignOfLife = std::chrono::seconds(20);

struct Holder {
  std::string host;
  int pid = 0;
  // Where the number means that process: machines that are copies, and containers, may have the same name. Claims of
  // earlier versions do not say it.
  std::string boot = {};
  std::string space = {};
};

Holder myself() {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  Holder holder{host, getpid()};
  std::ifstream("/proc/sys/kernel/random/boot_id") >> holder.boot;
  std::error_code ignored;
  holder.space = fs::read_symlink("/proc/self/ns/pid", ignored).string();
  return holder;
}

std::string text_of(const Holder& holder) {
  return fmt::format("{} {} {} {}\n", holder.host, holder.pid, holder.boot, holder.space);
}

bool is_of_here(const Holder& holder) {
  const Holder here = myself();
  return holder.pid > 0 && !holder.space.empty() && holder.host == here.host &&
         holder.boot == here.boot && holder.space == here.space;
}

std::string read_claim(const fs::path& file) { return read_own_file(file).value_or(""); }

// Makes the file, unless it is there: whole, so that whoever is killed meanwhile leaves no claim of nobody.
bool make_exclusively(const fs::path& file) {
  const std::string text = text_of(myself());
  NewFile draft(file.string());
  draft.write(std::as_bytes(std::span(text)));
  return draft.take_free_name();
}

// By the clock that stamps files, which need not be this machine's.
std::optional<std::chrono::seconds> age_of(const fs::path& file) {
  const NewFile probe(file.string());
  struct stat now = {};
  struct stat then = {};
  if (stat(probe.name().c_str(), &now) != 0 || lstat(file.c_str(), &then) != 0) return std::nullopt;
  return std::chrono::seconds(now.st_mtim.tv_sec - then.st_mtim.tv_sec);
}

bool is_dead(const std::string& text, const fs::path& file) {
  Holder holder;
  std::istringstream in(text);
  in >> holder.host >> holder.pid >> holder.boot >> holder.space;
  if (is_of_here(holder) && kill(holder.pid, 0) != 0 && errno == ESRCH) return true;
  // Here, too: another process may have the number of one that is gone, after a restart above all.
  const auto age = age_of(file);
  return age && *age > kClaimLife;
}

// Puts a dead holder's claim aside. Another process may do the same at the same time, and have a claim of its
// own there by now: that one is put back.
bool clear_dead(const fs::path& file) {
  const std::string text = read_claim(file);
  if (!is_dead(text, file)) return false;
  const std::string me = text_of(myself());
  const fs::path aside =
      file.string() + fmt::format(".dead.{:016x}", checksum(std::as_bytes(std::span(me))));
  if (rename(file.c_str(), aside.c_str()) != 0) return false;
  const bool was_it = read_claim(aside) == text;
  if (!was_it && link(aside.c_str(), file.c_str()) != 0) cannot_write(file.string());
  unlink(aside.c_str());
  return was_it;
}

class FileClaim final : public Claim {
 public:
  explicit FileClaim(fs::path file) : file_(std::move(file)) {
    // Signals are for the thread that waits for them.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { touch(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~FileClaim() override {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
    // Whoever took this process for dead has a claim of its own there.
    if (read_claim(file_) == text_of(myself())) unlink(file_.c_str());
  }

 private:
  void touch() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kSignOfLife, [this] { return over_; }))
      utimensat(AT_FDCWD, file_.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  }

  fs::path file_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace

// Of processes that died between the record and the end of their claim. Who is alive may be at work on another record.
void StudyFolder::clear_claims() {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / "claims"))
    if (has(entry.path().filename().string())) clear_dead(entry.path());
}

std::unique_ptr<Claim> StudyFolder::claim(const std::string& id) {
  const fs::path file = folder_ / "claims" / id;
  if (!make_exclusively(file) && !(clear_dead(file) && make_exclusively(file))) return nullptr;
  auto claim = std::make_unique<FileClaim>(file);
  // Whoever had it before may have finished the cell between our look and our claim.
  return has(id) ? nullptr : std::unique_ptr<Claim>(std::move(claim));
}

}  // namespace narrowcast
