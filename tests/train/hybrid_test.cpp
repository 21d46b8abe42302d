#include "train/loop/hybrid.hpp"

#include <torch/torch.h>

#include <map>
#include <mutex>

#include "tests/support/check.hpp"
#include "tests/support/ranks.hpp"
#include "tests/train/small_modules.hpp"
#include "train/data_parallel.hpp"
#include "train/loop/splitting.hpp"

namespace narrowcast::test {
namespace {

constexpr std::uint32_t kChannel = 4;
constexpr std::int64_t kBatch = 6;  // images of a rank

class Linear : public Layer {
 public:
  explicit Linear(const Workshop::LinearWish& wish)
      : linear_(register_module("linear", torch::nn::Linear(wish.inputs, wish.outputs))) {}
  torch::Tensor forward(const torch::Tensor& input) override { return linear_->forward(input); }

 private:
  torch::nn::Linear linear_;
};

std::shared_ptr<Layer> whole_linear_of(const Workshop::LinearWish& wish) {
  return std::make_shared<Linear>(wish);
}

class Features : public Layer {
 public:
  Features() : conv_(register_module("conv", torch::nn::Conv2d(1, 2, 3))) {}
  torch::Tensor forward(const torch::Tensor& input) override {
    return torch::tanh(conv_->forward(input)).flatten(1);
  }

 private:
  torch::nn::Conv2d conv_;
};

class Classifier : public Layer {
 public:
  explicit Classifier(const LinearMaker& maker)
      : first_(register_module("fc1", maker({"fc1", 18, 7}))),
        second_(register_module("fc2", maker({"fc2", 7, 4}))) {}
  torch::Tensor forward(const torch::Tensor& input) override {
    return second_->forward(torch::tanh(first_->forward(input)));
  }

 private:
  std::shared_ptr<Layer> first_;
  std::shared_ptr<Layer> second_;
};

// Ranks are threads and share torch's generator.
std::shared_ptr<Network> make(const LinearMaker& maker) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  torch::manual_seed(3);
  return std::make_shared<Network>(std::make_shared<Features>(),
                                   std::make_shared<Classifier>(maker));
}

torch::Tensor images_of(int rank) { return numbers({kBatch, 1, 5, 5}, 10 + rank); }
torch::Tensor labels_of(int rank) {
  return (torch::arange(kBatch, torch::kInt64) * 3 + rank).remainder(4);
}

using Weights = std::map<std::string, torch::Tensor>;

constexpr int kSteps = 3;

// One worker with everybody's images.
struct Trained {
  Weights weights;
  std::vector<double> losses;
};

Trained train_alone(int ranks) {
  const auto network = make(whole_linear_of);
  std::vector<torch::Tensor> images;
  std::vector<torch::Tensor> labels;
  for (int rank = 0; rank < ranks; ++rank) {
    images.push_back(images_of(rank));
    labels.push_back(labels_of(rank));
  }
  torch::optim::SGD optimiser(network->parameters(), torch::optim::SGDOptions(0.5));
  Trained trained;
  for (int step = 0; step < kSteps; ++step) {
    optimiser.zero_grad();
    const auto loss = torch::nn::functional::cross_entropy(network->forward(torch::cat(images)),
                                                           torch::cat(labels));
    loss.backward();
    optimiser.step();
    trained.losses.push_back(loss.item<double>());
  }
  for (const auto& item : network->named_parameters()) {
    std::string name = item.key();
    if (const auto at = name.find("linear."); at != std::string::npos) name.erase(at, 7);
    trained.weights[name] = item.value().detach();
  }
  return trained;
}

Trained train_hybrid(Transport& net, int sub_batches, const Way& way) {
  ActivationLink link(net, kChannel, way, way, 7);
  const auto network = make(split_linear_maker(link, Parallel::hybrid));
  const DataParallelOptions options = {.local = split_parameters(*network)};
  Exchange exchange(net, {}, tensors_of(*network, options));
  DataParallel dp(network, exchange, options);
  torch::optim::SGD optimiser(network->parameters(), torch::optim::SGDOptions(0.5));
  Trained trained;
  for (int step = 0; step < kSteps; ++step) {
    optimiser.zero_grad();
    link.set_step(step);
    const HybridBatch batch = {.images = images_of(net.rank()),
                               .labels = labels_of(net.rank()),
                               .sub_batches = sub_batches};
    trained.losses.push_back(hybrid_step(*network, batch, link).loss);
    dp.wait();
    optimiser.step();
  }
  const SplitLayers layers = split_layers(*network);
  for (const auto& item : network->named_parameters())
    trained.weights[item.key()] = splits(layers, item.key())
                                      ? whole_of(layers, item.key(), item.value(), link)
                                      : item.value().detach();
  return trained;
}

TEST(Hybrid, TrainsLikeOneWorkerWithTheImagesOfAll) {
  at::set_num_threads(1);
  for (const int ranks : {1, 2, 3}) {
    const Trained alone = train_alone(ranks);
    for (const int sub_batches : {1, 2, 4, 100}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, " << sub_batches << " sub-batches");
      on_ranks(ranks, [&](Transport& net) {
        const Trained hybrid = train_hybrid(net, sub_batches, {});
        for (int step = 0; step < kSteps; ++step)
          EXPECT_NEAR(alone.losses[step], hybrid.losses[step], 1e-5);
        EXPECT_EQ(alone.weights.size(), hybrid.weights.size());
        for (const auto& [name, weight] : hybrid.weights)
          EXPECT_TRUE(torch::allclose(weight, alone.weights.at(name), 1e-4, 1e-6)) << name;
      });
    }
  }
}

TEST(Hybrid, LeavesTheSameBitsOnEveryRankWhateverTheCodec) {
  for (const std::string codec : {"dynamic8", "qsgd:bits=4", "onebit:column=shape"}) {
    SCOPED_TRACE(codec);
    std::vector<Trained> all(3);
    on_ranks(3, [&](Transport& net) { all[net.rank()] = train_hybrid(net, 2, {.codec = codec}); });
    for (const Trained& each : all) {
      EXPECT_EQ(all[0].losses, each.losses);
      for (const auto& [name, weight] : each.weights)
        EXPECT_TRUE(torch::equal(weight, all[0].weights.at(name))) << name;
    }
  }
}

TEST(Hybrid, TellsWhichSubBatchComes) {
  on_ranks(2, [](Transport& net) {
    ActivationLink link(net, kChannel, {}, {}, 7);
    const auto network = make(split_linear_maker(link, Parallel::hybrid));
    std::vector<int> told;
    hybrid_step(*network,
                {.images = images_of(net.rank()),
                 .labels = labels_of(net.rank()),
                 .sub_batches = 3,
                 .before = [&](int k) { told.push_back(k); }},
                link);
    EXPECT_EQ((std::vector{0, 1, 2}), told);
    const ActivationLink::Costs costs = link.take_costs();
    EXPECT_GT(costs.fp32_bytes, 0U);
  });
}

TEST(Hybrid, RefusesNetworksThatAreNotSplitForIt) {
  on_ranks(1, [](Transport& net) {
    ActivationLink link(net, kChannel, {}, {}, 7);
    for (const LinearMaker& maker :
         {LinearMaker(whole_linear_of), split_linear_maker(link, Parallel::model)}) {
      const auto network = make(maker);
      const HybridBatch batch = {.images = images_of(0), .labels = labels_of(0)};
      EXPECT_EQ(Fault::usage, fault_of([&] { hybrid_step(*network, batch, link); }));
    }
  });
}

// All ranks see the same images.
TEST(ModelParallel, TrainsLikeOneWorker) {
  const Trained alone = train_alone(1);
  for (const int ranks : {2, 3})
    on_ranks(ranks, [&](Transport& net) {
      ActivationLink link(net, kChannel, {}, {}, 7);
      const auto network = make(split_linear_maker(link, Parallel::model));
      const SplitLayers layers = split_layers(*network);
      torch::optim::SGD optimiser(network->parameters(), torch::optim::SGDOptions(0.5));
      for (int step = 0; step < kSteps; ++step) {
        optimiser.zero_grad();
        const auto loss =
            torch::nn::functional::cross_entropy(network->forward(images_of(0)), labels_of(0));
        loss.backward();
        optimiser.step();
        EXPECT_NEAR(alone.losses[step], loss.item<double>(), 1e-5);
      }
      for (const auto& item : network->named_parameters()) {
        const std::string& name = item.key();
        const torch::Tensor whole =
            splits(layers, name) ? whole_of(layers, name, item.value(), link) : item.value();
        EXPECT_TRUE(torch::allclose(whole, alone.weights.at(name), 1e-4, 1e-6)) << name;
      }
    });
}

}  // namespace
}  // namespace narrowcast::test
