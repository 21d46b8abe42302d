#pragma once

#include <string>

namespace narrowcast {

// As a shell reads it back.
std::string quoted(const std::string& word);

}  // namespace narrowcast
