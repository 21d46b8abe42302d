#include <nanobind/nanobind.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "python/src/parts.hpp"

namespace narrowcast::python {
namespace {

namespace nb = nanobind;

// As the kernel has it (sched_setattr(2)); the C library has neither the structure nor the function.
struct SchedulerAttributes {
  std::uint32_t size = sizeof(SchedulerAttributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;  // of an ordinary thread: how long its turns are, in nanoseconds
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};
static_assert(sizeof(SchedulerAttributes) == 48);

// Threads that have little to do but must not wait take short turns: the kernel then lets them go
// first when they wake up, at no cost to the share of others. They inherit it. Kernels before 6.12
// know nothing of it and leave everything as it is, and so do those that refuse.
void set_turn(std::uint64_t microseconds) {
  SchedulerAttributes attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  if (attributes.policy != 0) return;
  attributes.runtime = microseconds * 1000;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace

void add_turns(nb::module_& module) {
  module.def("set_turn", set_turn, nb::arg("microseconds"),
             "How long the turns of this thread on a core are; 0: as usual.");
}

}  // namespace narrowcast::python
