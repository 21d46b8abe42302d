#pragma once

#include <functional>

#include "transport/transport.hpp"

namespace narrowcast::bench {

// Calls body(transport) on every rank of a job whose ranks are threads of this process. A rank
// leaves when its body ends. The error that came first is rethrown when all have ended.
// How long one may be silent is `timeout`.
void on_threads(int ranks, const std::function<void(std::unique_ptr<Transport>)>& body,
                std::chrono::milliseconds timeout = kDefaultTimeout);

}  // namespace narrowcast::bench
