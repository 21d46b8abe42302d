#pragma once

#include <csignal>
#include <string>
#include <utility>
#include <vector>

namespace narrowcast {

using NamedValues = std::vector<std::pair<std::string, std::string>>;

struct Spawning {
  std::string program;
  std::vector<std::string> words;  // without the program's own name
  NamedValues environment;         // on top of this process's
  std::vector<int> descriptors;    // that it inherits besides these three
  int in = 0;
  int out = 1;
  int err = 2;
  sigset_t blocked = {};  // signals
};

// Starts a program that is killed when the calling thread ends, and returns its process id.
// Fault::system when it cannot be started.
int spawn(const Spawning& spawning);

}  // namespace narrowcast
