#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace narrowcast {

// All of a file whose name this program itself has chosen, so that nothing else should stand there. A link is not
// followed and a pipe not waited for: nothing, as for whatever cannot be read.
std::optional<std::string> read_own_file(const std::filesystem::path& file);

}  // namespace narrowcast
