#include "train/loop/hybrid.hpp"

#include <torch/torch.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "train/loop/splitting.hpp"

namespace narrowcast {
namespace {

// Layers count from 1.
constexpr Cargo kFeatures = {.layer = 0};

MutableFloats floats(const torch::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

// One row for each rank.
ActivationLink::Parts parts_of(const torch::Tensor& tensor) {
  ActivationLink::Parts parts;
  for (std::int64_t rank = 0; rank < tensor.size(0); ++rank) parts.push_back(floats(tensor[rank]));
  return parts;
}

class HybridStep {
 public:
  HybridStep(Network& network, const HybridBatch& batch, ActivationLink& link)
      : network_(network),
        batch_(batch),
        link_(link),
        ranks_(link.size()),
        images_(batch.images.size(0)),
        count_(static_cast<int>(std::clamp<std::int64_t>(batch.sub_batches, 1, images_))),
        sub_batches_(count_) {
    require(
        is_made_for_hybrid(network.classifier()), Fault::usage,
        "this network has no fully connected layers that are split for a hybrid: use --parallel "
        "data");
  }

  HybridLoss run() {
    const torch::Tensor features = network_.features().forward(batch_.images);
    features_ = features.detach().contiguous();
    learning_ = features.requires_grad();
    gather_labels();
    HybridLoss loss;
    start_gather(0);
    for (int k = 0; k < count_; ++k) {
      sub_batches_[k].gather->wait();
      if (k + 1 < count_) start_gather(k + 1);
      loss.loss += compute(k);
      if (learning_) start_scatter(k);
    }
    if (learning_) features.backward(collect());
    return loss;
  }

 private:
  struct SubBatch {
    torch::Tensor features;  // rank x image x value
    torch::Tensor errors;    // the same of their gradient
    std::optional<ActivationLink::Underway> gather;
    std::optional<ActivationLink::Underway> scatter;
  };

  Share images_of(int k) const { return share_of(images_, k, count_); }

  Cargo cargo(int k) const {
    Cargo cargo = kFeatures;
    cargo.rows = static_cast<std::size_t>(images_of(k).count);
    return cargo;
  }

  // Exact: whole numbers far below 2^24.
  void gather_labels() {
    torch::Tensor all = torch::empty({ranks_, images_});
    all[link_.rank()].copy_(batch_.labels);
    link_.gather_exactly(parts_of(all));
    labels_ = all.to(torch::kInt64);
  }

  void start_gather(int k) {
    const Share share = images_of(k);
    torch::Tensor all = torch::empty({ranks_, share.count, features_.size(1)});
    all[link_.rank()].copy_(features_.narrow(0, share.first, share.count));
    sub_batches_[k].features = all;
    sub_batches_[k].gather.emplace(link_.start_gather_ahead(parts_of(all), cargo(k)));
  }

  double compute(int k) {
    if (batch_.before) batch_.before(k);
    SubBatch& sub = sub_batches_[k];
    const Share share = images_of(k);
    torch::Tensor input = sub.features.view({ranks_ * share.count, features_.size(1)});
    input.set_requires_grad(learning_);
    const torch::Tensor labels = labels_.narrow(1, share.first, share.count).reshape({-1});
    const torch::Tensor loss =
        torch::nn::functional::cross_entropy(
            network_.classifier().forward(input), labels,
            torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum)) /
        static_cast<double>(ranks_ * images_);
    loss.backward();
    if (learning_) sub.errors = input.grad().contiguous().view_as(sub.features);
    sub.features.reset();
    return loss.item<double>();
  }

  void start_scatter(int k) {
    SubBatch& sub = sub_batches_[k];
    sub.scatter.emplace(link_.start_scatter_behind(parts_of(sub.errors), cargo(k)));
  }

  // Of the mean over this rank's images, which is a mean over fewer of them.
  torch::Tensor collect() {
    std::vector<torch::Tensor> own;
    for (SubBatch& sub : sub_batches_) {
      sub.scatter->wait();
      own.push_back(sub.errors[link_.rank()]);
    }
    return torch::cat(own).mul_(static_cast<double>(ranks_));
  }

  Network& network_;
  const HybridBatch& batch_;
  ActivationLink& link_;
  std::int64_t ranks_;
  std::int64_t images_;
  int count_;
  bool learning_ = false;  // whether anything before the classifier does
  torch::Tensor features_;
  torch::Tensor labels_;  // rank x image
  std::vector<SubBatch> sub_batches_;
};

}  // namespace

HybridLoss hybrid_step(Network& network, const HybridBatch& batch, ActivationLink& link) {
  return HybridStep(network, batch, link).run();
}

}  // namespace narrowcast
