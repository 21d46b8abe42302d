#pragma once

#include <optional>

#include "transport/sealed.hpp"
#include "transport/sealing/keys.hpp"

namespace narrowcast::sealing {

// Exchanges greetings with all ranks and refuses those that do not fit. The key of this session,
// or nothing when there is no job key. Nobody has shown yet that they know it: confirm() that.
std::optional<Secret> greet(Transport& net, const Sealing& sealing);

// A message to and from everybody under the session's key, which `net` uses by now. Whoever
// replayed the greeting of a former session cannot send it.
void confirm(Transport& net);

}  // namespace narrowcast::sealing
