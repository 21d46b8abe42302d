#pragma once

#include <functional>
#include <string>

#include "base/error.hpp"

namespace narrowcast::test {

// What a call says when it fails, with whose fault it is before it: "wire: ...", or "no error".
inline std::string fault_text(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    switch (error.fault()) {
      case Fault::usage:
        return std::string("usage: ") + error.what();
      case Fault::wire:
        return std::string("wire: ") + error.what();
      case Fault::peer:
        return std::string("peer: ") + error.what();
      case Fault::system:
        return std::string("system: ") + error.what();
    }
  }
  return "no error";
}

}  // namespace narrowcast::test
