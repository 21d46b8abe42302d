#pragma once

namespace narrowcast {

// Of everything that computes in this process.
void set_threads(int count);

}  // namespace narrowcast
