#pragma once

#include <cstdint>
#include <vector>

#include "collective/conversation.hpp"
#include "exchange/exchange.hpp"

namespace narrowcast {

// All ranks compare plan, tensors and seed with rank 0's. Fault::usage on every rank names the first
// that differs, and the line.
void agree_on(const Plan& plan, const std::vector<Tensor>& tensors, std::uint64_t seed,
              Conversation& group);

}  // namespace narrowcast
