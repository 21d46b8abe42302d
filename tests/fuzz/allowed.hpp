#pragma once

#include <cstdlib>
#include <initializer_list>

#include "base/error.hpp"

namespace narrowcast::fuzz {

// Success, or one of these faults; anything else is a finding.
template <class Call>
void expect(std::initializer_list<Fault> allowed, Call call) {
  try {
    call();
  } catch (const Error& error) {
    for (const Fault fault : allowed)
      if (error.fault() == fault) return;
    std::abort();
  }
}

}  // namespace narrowcast::fuzz
