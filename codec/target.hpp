#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The CPU targets the kernels were compiled for. Every target gives the same bytes.
namespace narrowcast {

// Those this CPU can run, slowest first; [0] is "scalar", the specification of all others.
std::vector<std::string> cpu_targets();
// Those compiled into this build, whether or not this CPU can run them.
std::vector<std::string> compiled_targets();
// The one codecs use: the best, unless another was chosen.
std::string active_target();
// Makes codecs use a target, by name; process-wide, affects codecs made afterwards and before.
// Unknown or unsupported names are Fault::usage. The program calls it for NARROWCAST_TARGET.
void use_target(std::string_view name);

// For rooms with vector kernels of their own: calls fill(name) for each of cpu_targets() but the
// scalar one, in their order, while Highway's dispatch leads there.
void on_vector_targets(const std::function<void(std::string_view name)>& fill);

}  // namespace narrowcast
