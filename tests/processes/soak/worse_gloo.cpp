// The gloo module with a worse link, or with a leak: put first in NARROWCAST_MODULES, it is loaded in
// place of the real one, which it loads in turn. So the program itself has no way to be told to harm
// messages. NARROWCAST_SOAK says on which rank and what: "2 flip 7 0.001", a probability and its seed,
// or "2 leak 50", memory and a descriptor every so many messages. Without it, everything is as it was.

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

#include "base/error.hpp"
#include "transport/faulty.hpp"
#include "transport/module.hpp"
#include "transport/wrapper.hpp"

namespace narrowcast {
namespace {

constexpr std::size_t kLeakedBytes = 1 << 18;

class Leaking final : public Wrapper {
 public:
  Leaking(std::unique_ptr<Transport> inner, std::uint64_t every)
      : Wrapper(std::move(inner)), every_(every) {}

 private:
  std::unique_ptr<Transfer> do_send(const Slot& to, Bytes message, const Stamp& stamp) override {
    if (++messages_ % every_ == 0) leak();
    return std::make_unique<PassedOn>(inner().send(to, message, stamp));
  }

  std::unique_ptr<Transfer> do_receive(const Slot& from, MutableBytes buffer) override {
    return std::make_unique<PassedOn>(inner().receive(from, buffer));
  }

  static void leak() {
    // Memory that nobody can see is left out by the compiler.
    static void* volatile lost = nullptr;
    lost = std::malloc(kLeakedBytes);
    require(dup(STDERR_FILENO) >= 0 && lost != nullptr, Fault::system, "nothing left to leak");
    std::memset(lost, 1, kLeakedBytes);  // pages count when they are touched
  }

  std::uint64_t every_;
  std::atomic<std::uint64_t> messages_ = 0;
};

// What the variable asks for, around the real transport.
std::unique_ptr<Transport> worse(std::unique_ptr<Transport> real, const std::string& wish) {
  std::istringstream words(wish);
  int rank = -1;
  std::string what;
  std::uint64_t number = 0;
  double probability = 0;
  words >> rank >> what >> number >> probability;
  if (rank != real->rank()) return real;
  if (what == "leak") return std::make_unique<Leaking>(std::move(real), number);
  if (what == "flip") return faulty(std::move(real), {.seed = number, .flip = probability});
  if (what == "truncate") return faulty(std::move(real), {.seed = number, .truncate = probability});
  if (what == "repeat") return faulty(std::move(real), {.seed = number, .repeat = probability});
  throw Error(Fault::usage, "NARROWCAST_SOAK: there is no " + what);
}

}  // namespace
}  // namespace narrowcast

extern "C" narrowcast::Transport* narrowcast_join(const narrowcast::Joining& joining,
                                                  const char* version) {
  using narrowcast::Error;
  using narrowcast::Fault;
  void* const handle = dlopen(NARROWCAST_REAL_GLOO, RTLD_NOW | RTLD_LOCAL);
  void* const found = handle == nullptr ? nullptr : dlsym(handle, "narrowcast_join");
  if (found == nullptr) throw Error(Fault::system, dlerror());
  std::unique_ptr<narrowcast::Transport> real(
      reinterpret_cast<narrowcast::ModuleJoin>(found)(joining, version));
  const char* const wish = std::getenv("NARROWCAST_SOAK");
  return wish == nullptr ? real.release() : narrowcast::worse(std::move(real), wish).release();
}
