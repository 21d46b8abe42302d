#pragma once

#include <string>

#include "base/bytes.hpp"
#include "cli/command.hpp"

namespace narrowcast::cli {

// Writes binary data to the file, or to standard output when the path is empty or "-". A file
// appears complete or not at all: the bytes go to a new file beside it, which then takes its name.
// A link stays a link, and its target is written. Devices, pipes and open descriptors (/dev/stdout,
// /dev/fd/N) have no name to take over and are written to as they are.
// Fault::system when that fails, and an existing file is left as it was; Fault::usage when standard
// output is a terminal.
void write_bytes(const std::string& path, Bytes bytes, const Console& console);

// Fault::usage when write_bytes would refuse, for commands that want to know before they work.
void require_sink(const std::string& path, const Console& console);

}  // namespace narrowcast::cli
