#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace narrowcast::test {

// What waitpid says of a copy of this process that does something.
inline int status_of(const std::function<int()>& something) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(something());
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace narrowcast::test
