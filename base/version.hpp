#pragma once

#include <string_view>

namespace narrowcast {

// The release this was built as, e.g. "0.1.0".
std::string_view version();

// The git commit it was built from, with "-dirty" when files had changed since, or "unknown".
std::string_view commit();

}  // namespace narrowcast
