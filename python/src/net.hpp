#pragma once

#include <memory>
#include <string>

#include "transport/carried.hpp"
#include "transport/transport.hpp"

namespace narrowcast::python {

// A transport as Python has it: shared memory, or frames that Python carries.
class Net {
 public:
  Net(std::unique_ptr<Transport> transport, Carried* carrier)
      : transport_(std::move(transport)), carrier_(carrier) {}

  Transport& transport() const;  // Fault::usage when it is closed
  Carried& carrier() const;      // Fault::usage when nobody carries its frames

  // All ranks compare their versions and these terms, and seal if the file of a key is given: from
  // then on with authenticators.
  void meet(const std::string& plan, const std::string& seed, const std::string& key_file);

  // Leaves. Carriers still have to end before it goes.
  void leave();
  // Goes. Nobody uses it any more.
  void close();

 private:
  std::unique_ptr<Transport> transport_;
  Carried* carrier_;  // inside of it, also while it is being sealed; or none
};

}  // namespace narrowcast::python
