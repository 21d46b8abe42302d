#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "plan/plan.hpp"

namespace narrowcast::test {
namespace {

using Buffers = std::vector<std::vector<std::size_t>>;

TEST(Fusion, ClosesABufferAsSoonAsItIsFull) {
  const std::vector<std::size_t> elements{10, 10, 10, 100, 10};
  EXPECT_EQ(fuse(elements, 80), (Buffers{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(fuse(elements, 81), (Buffers{{0, 1, 2}, {3}, {4}}));
}

TEST(Fusion, OfNothingIsNothing) { EXPECT_TRUE(fuse({}, 4096).empty()); }

TEST(Fusion, OfNoBytesLeavesEveryTensorAlone) {
  const std::vector<std::size_t> elements{0, 1, 2};
  EXPECT_EQ(fuse(elements, 0), (Buffers{{0}, {1}, {2}}));
}

struct Fused {
  std::vector<std::size_t> elements =
      *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 5000));
  std::size_t bytes = *rc::gen::inRange<std::size_t>(0, 20'000);
  Buffers buffers = fuse(elements, bytes);

  std::size_t bytes_of(std::span<const std::size_t> tensors) const {
    std::size_t sum = 0;
    for (const std::size_t tensor : tensors) sum += elements[tensor] * sizeof(float);
    return sum;
  }
};

RC_GTEST_PROP(Fusion, HasEveryTensorOnceAndInOrder, ()) {
  const Fused fused;
  std::vector<std::size_t> expected(fused.elements.size());
  std::iota(expected.begin(), expected.end(), std::size_t{0});
  std::vector<std::size_t> seen;
  for (const auto& buffer : fused.buffers) {
    RC_ASSERT(!buffer.empty());
    seen.insert(seen.end(), buffer.begin(), buffer.end());
  }
  RC_ASSERT(seen == expected);
}

RC_GTEST_PROP(Fusion, FillsEveryBufferButTheLastAndNoneTwice, ()) {
  const Fused fused;
  for (std::size_t i = 0; i < fused.buffers.size(); ++i) {
    const std::span<const std::size_t> tensors = fused.buffers[i];
    if (i + 1 < fused.buffers.size()) RC_ASSERT(fused.bytes_of(tensors) >= fused.bytes);
    // Without its last tensor it was not full yet.
    if (tensors.size() > 1)
      RC_ASSERT(fused.bytes_of(tensors.first(tensors.size() - 1)) < fused.bytes);
  }
}

}  // namespace
}  // namespace narrowcast::test
