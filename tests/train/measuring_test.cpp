#include "train/loop/measuring.hpp"

#include <gmock/gmock.h>

#include "tests/support/ranks.hpp"

namespace narrowcast::test {
namespace {

// Large networks have a thousand classes and small batches.
TEST(Measuring, TakesBatchesWithFewerImagesThanTheNetworkHasClasses) {
  const narrowcast::Run run = {.net = "mnist-mlp", .batch = 1};
  on_ranks(1, [&](Transport& net) {
    const MeasuredModel model = measure_on_rank({.run = run, .net = net, .seconds = 0});
    EXPECT_EQ(1, model.batch);
    EXPECT_GT(model.backward_ms, 0);
    std::size_t parameters = 0;
    for (const MeasuredTensor& tensor : model.tensors) parameters += tensor.elements;
    EXPECT_EQ(network_row("mnist-mlp").parameters, parameters);
  });
}

}  // namespace
}  // namespace narrowcast::test
