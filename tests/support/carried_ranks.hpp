#pragma once

#include "tests/support/ranks.hpp"

namespace narrowcast::test {

// Carried, by threads that hand frames over from queue to queue.
Connect meet_carried(int ranks, std::chrono::milliseconds timeout);
// With frames of a page.
Connect meet_narrow_carried(int ranks, std::chrono::milliseconds timeout);

}  // namespace narrowcast::test
