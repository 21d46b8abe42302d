#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/error.hpp"
#include "tests/exchange/steps.hpp"
#include "tests/support/check.hpp"
#include "transport/faulty.hpp"
#include "transport/inproc.hpp"
#include "transport/sealed.hpp"

// Ranks that leave or disagree, bad networks, and calls out of turn.
namespace narrowcast::test {
namespace {

const std::vector<Tensor> kTensors = tensors_of({3000, 200, 2000});

std::string error_of(const std::function<void()>& call, Fault fault) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ExchangeFaults, ARankThatLeavesInAStepIsNamedByAllOthers) {
  on_ranks(3, [](Transport& net) {
    Exchange exchange(net, plan_of("dynamic8"), kTensors);
    Values values = shares_of(kTensors, net.rank(), 0);
    exchange_step(exchange, {}, values);
    if (net.rank() == 2) return;
    const std::string said =
        error_of([&] { exchange_step(exchange, {.step = 1}, values); }, Fault::peer);
    EXPECT_TRUE(has(said, "rank ")) << said;
    EXPECT_EQ(fault_of([&] { exchange.begin({.step = 2}); }), Fault::peer);
  });
}

TEST(ExchangeFaults, ASilentRankIsNamedAfterTheDeadline) {
  Hub hub(2, std::chrono::seconds(1));
  const Connect connect = [&](int rank) { return hub.connect(rank); };
  std::atomic<bool> over = false;
  on_ranks(connect, 2, [&](Transport& net) {
    Exchange exchange(net, plan_of("dynamic8"), kTensors);
    Values values = shares_of(kTensors, net.rank(), 0);
    exchange.begin({});
    if (net.rank() == 1) {
      while (!over) std::this_thread::yield();
      return;
    }
    for (std::size_t i = 0; i < values.size(); ++i) exchange.ready(i, values[i]);
    EXPECT_TRUE(has(error_of([&] { exchange.wait(); }, Fault::peer), "rank 1"));
    over = true;
  });
}

TEST(ExchangeFaults, AnExchangeThatIsAbandonedInAStepEnds) {
  for (const std::size_t ready : {0, 1, 3})
    on_ranks(2, [&](Transport& net) {
      Values values = shares_of(kTensors, net.rank(), 0);  // outlive the exchange
      Exchange exchange(net, plan_of("dynamic8"), kTensors);
      exchange.begin({});
      for (std::size_t i = 0; i < ready; ++i) exchange.ready(i, values[i]);
    });
}

// Each of many bad networks gives the right sums or an error that names a rank, on every rank.
TEST(ExchangeFaults, ABadNetworkGivesTheRightSumsOrAnErrorThatNamesARank) {
  const Trial trial{.plan = plan_of("qsgd:bits=4"), .tensors = kTensors, .ranks = 3};
  const Values expected = run(trial)[0].sums;
  std::atomic<int> right = 0;
  std::atomic<int> refused = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Hub hub(3, std::chrono::milliseconds(100));
    const Connect connect = [&](int rank) {
      const Mischief mischief{.seed = seed,
                              .drop = 0.002,
                              .delay = 0.02,
                              .truncate = 0.005,
                              .flip = 0.005,
                              .repeat = 0.005,
                              .kill = 0.002,
                              .longest_delay = std::chrono::microseconds(200)};
      return faulty(hub.connect(rank), mischief);
    };
    const auto body = [&](Transport& net) {
      Exchange exchange(net, trial.plan, kTensors);
      Values values = shares_of(kTensors, net.rank(), 0);
      exchange_step(exchange, {}, values);
      for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_TRUE(same_values(values[i], expected[i])) << "seed " << seed;
    };
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < 3; ++rank)
      threads.emplace_back([&, rank] {
        try {
          const auto net = seal(connect(rank), {});
          body(*net);
          ++right;
        } catch (const Error& error) {
          EXPECT_TRUE(error.fault() == Fault::peer || error.fault() == Fault::wire) << error.what();
          EXPECT_TRUE(has(error.what(), "rank")) << error.what();
          ++refused;
        }
      });
    threads.clear();
  }
  EXPECT_GT(right, 20);  // both happen, or this tests nothing
  EXPECT_GT(refused, 20);
}

struct Disagreement {
  Plan plan = plan_of("dynamic8");
  std::vector<Tensor> tensors = kTensors;
  ExchangeOptions options = {};
};

// What all ranks say when rank 1 of 3 has something else than the others.
std::string disagreement(const Disagreement& other) {
  std::vector<std::string> said(3);
  on_ranks(3, [&](Transport& net) {
    const Disagreement own = net.rank() == 1 ? other : Disagreement{};
    said[net.rank()] =
        error_of([&] { Exchange(net, own.plan, own.tensors, own.options); }, Fault::usage);
  });
  EXPECT_EQ(said[0], said[1]);
  EXPECT_EQ(said[0], said[2]);
  return said[0];
}

TEST(Agreement, NamesTheRankThatDiffersAndInWhat) {
  Disagreement seed;
  seed.options.seed = 5;
  EXPECT_EQ(disagreement(seed),
            "rank 1 differs in its exchange: seed = 5 there, seed = 0 on rank 0");
  Disagreement algorithm;
  algorithm.plan.algorithm = "ring";
  const std::string said = disagreement(algorithm);
  EXPECT_TRUE(has(said, "rank 1") && has(said, "ring") && has(said, "direct")) << said;
  Disagreement codec;
  codec.plan.rules[0].way.codec = "linear8";
  EXPECT_TRUE(has(disagreement(codec), "linear8"));
  Disagreement name;
  name.tensors[1].name = "other";
  EXPECT_TRUE(has(disagreement(name), "tensor 'other'"));
  Disagreement size;
  size.tensors[2].elements = 1999;
  EXPECT_TRUE(has(disagreement(size), "1999"));
  Disagreement fewer;
  fewer.tensors.pop_back();
  EXPECT_TRUE(has(disagreement(fewer), "nothing there, tensor 'layer2.weight'"));
  Disagreement more;
  more.tensors.push_back({.name = "last", .elements = 3});
  EXPECT_TRUE(has(disagreement(more), "tensor 'last' of 3 values, innermost 0 there, nothing"));
}

TEST(Agreement, AllowsKeysInDifferentPlaces) {
  on_ranks(2, [](Transport& net) {
    Plan plan = plan_of("dynamic8");
    plan.key_file = "key-of-" + std::to_string(net.rank());
    const Exchange exchange(net, plan, kTensors);
    EXPECT_EQ(exchange.plan().key_file, plan.key_file);
  });
}

TEST(ExchangeCalls, AreRefusedOutOfTurn) {
  on_ranks(1, [](Transport& net) {
    EXPECT_EQ(fault_of([&] { Exchange(net, {}, {{.name = "a"}, {.name = "a"}}); }), Fault::usage);
    EXPECT_EQ(fault_of([&] { Exchange(net, plan_of("no-such-codec"), kTensors); }), Fault::usage);
    Exchange exchange(net, plan_of("dynamic8"), kTensors);
    EXPECT_EQ(exchange.rank(), 0);
    EXPECT_EQ(exchange.size(), 1);
    EXPECT_EQ(exchange.tensors().size(), kTensors.size());
    Values values = shares_of(kTensors, 0, 0);
    const auto usage = [&](const std::function<void()>& call) {
      EXPECT_EQ(fault_of(call), Fault::usage);
    };
    usage([&] { exchange.wait(); });
    usage([&] { exchange.ready(0, values[0]); });
    usage([&] { exchange.broadcast(0, values[1]); });
    usage([&] { exchange.broadcast(3, values[1]); });
    exchange.begin({});
    usage([&] { exchange.begin({}); });
    usage([&] { exchange.ready(3, values[0]); });
    usage([&] { exchange.ready(1, values[0]); });
    exchange.ready(0, values[0]);
    usage([&] { exchange.ready(0, values[0]); });
    usage([&] { exchange.broadcast(0, values[0]); });
    usage([&] { exchange.save(); });
    usage([&] { exchange.load({}); });
    EXPECT_EQ(exchange.wait().used, (std::vector<bool>{true, false, false}));
    usage([&] { exchange.wait(); });
  });
}

}  // namespace
}  // namespace narrowcast::test
