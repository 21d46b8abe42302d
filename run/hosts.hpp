#pragma once

#include <string>
#include <vector>

namespace narrowcast {

struct Host {
  std::string address;
  int slots = 1;  // ranks there
};

// A file with a line 'address [slots]' for each host; '#' starts a comment. Fault::system when it
// cannot be read, Fault::usage when a line is something else or there is none.
std::vector<Host> read_hosts(const std::string& path);

int ranks_on(const std::vector<Host>& hosts);

}  // namespace narrowcast
