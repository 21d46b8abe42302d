#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "collective/collective.hpp"

namespace narrowcast {

// Small things that ranks tell each other between steps, exactly.
class RankTalk {
 public:
  static constexpr Channel kChannel = 1;
  explicit RankTalk(Transport& net, Channel channel = kChannel);

  int rank() const { return group_.rank(); }
  int size() const { return group_.size(); }

  // Sums over all ranks; whole numbers up to 2^24 stay exact.
  std::vector<float> sum(std::vector<float> values);

  // Rank 0's bytes, on every rank.
  void broadcast(MutableBytes bytes);
  std::uint64_t broadcast(std::uint64_t number);
  void broadcast(const torch::Tensor& tensor);  // contiguous, of any type

  // Fault::wire on every rank when `hash` is not the same on all; `what` differs.
  void require_equal(std::uint64_t hash, std::string_view what);

 private:
  Conversation group_;
  std::unique_ptr<Codec> fp32_;
  std::uint64_t calls_ = 0;
};

}  // namespace narrowcast
