#pragma once

#include <string>
#include <string_view>

#include "codec/target.hpp"

namespace narrowcast::test {

// Codecs use this CPU target until the end of the scope.
class TargetScope {
 public:
  explicit TargetScope(std::string_view name) : before_(active_target()) { use_target(name); }
  ~TargetScope() { use_target(before_); }
  TargetScope(const TargetScope&) = delete;
  TargetScope& operator=(const TargetScope&) = delete;

 private:
  std::string before_;
};

}  // namespace narrowcast::test
