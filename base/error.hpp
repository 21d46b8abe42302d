#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace narrowcast {

// Whose fault it was. The command line turns it into an exit code (docs/architecture.md).
enum class Fault {
  usage,   // the caller asked for something that does not exist or does not fit
  wire,    // bytes from outside are not what they claim to be
  peer,    // another rank died, is silent, or disagrees
  system,  // the machine said no: memory, files, devices
};

class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& what) : std::runtime_error(what), fault_(fault) {}
  Fault fault() const noexcept { return fault_; }

 private:
  Fault fault_;
};

// For conditions that need no made-up message; build an Error yourself where one is composed, so
// that the good path never formats anything.
inline void require(bool ok, Fault fault, const char* what) {
  if (!ok) throw Error(fault, what);
}

}  // namespace narrowcast
