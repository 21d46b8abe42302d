#include "train/loop/feed.hpp"

#include <fmt/format.h>
#include <torch/torch.h>

#include <numeric>

#include "base/error.hpp"

namespace narrowcast {

Feed::Feed(const Run& run, const DataSet& data, const Place& place)
    : data_(data),
      sharding_{.seed = run.seed, .rank = place.rank, .ranks = place.ranks, .batch = place.batch},
      training_{.normal = &data.normal,
                .pad = run.pad,
                .crop = run.crop,
                .flip = run.flip,
                .random = run.pad > 0 || run.crop > 0 || run.flip,
                .seed = run.seed},
      testing_{.normal = &data.normal, .crop = run.crop} {
  if (steps_per_epoch() == 0)
    throw Error(Fault::usage,
                fmt::format("{} has {} images, fewer than the {} of one step on {} ranks",
                            data.name, data.train->size(), place.batch * place.ranks, place.ranks));
}

std::size_t Feed::steps_per_epoch() const { return steps_of(data_.train->size(), sharding_); }

void Feed::set_epoch(std::uint64_t epoch) {
  sharding_.epoch = epoch;
  training_.epoch = epoch;
  order_ = shard(data_.train->size(), sharding_);
}

Batch Feed::training(std::size_t step_in_epoch, std::size_t part, std::size_t parts) {
  const std::size_t each = sharding_.batch / parts;
  const std::size_t first = step_in_epoch * sharding_.batch + part * each;
  return fill(*data_.train, std::span(order_).subspan(first, each), training_);
}

Batch Feed::testing(std::size_t first, std::size_t count) {
  std::vector<std::size_t> images(count);
  std::iota(images.begin(), images.end(), first);
  return fill(*data_.test, images, testing_);
}

Batch Feed::fill(const Images& from, std::span<const std::size_t> images, const Preparation& how) {
  const ImageShape shape = prepared_shape(from.shape(), how);
  const auto count = static_cast<std::int64_t>(images.size());
  Batch batch = {torch::empty({count, shape.channels, shape.height, shape.width}),
                 torch::empty({count}, torch::kInt64)};
  fill_batch(from, images, how,
             {batch.images.data_ptr<float>(), static_cast<std::size_t>(batch.images.numel())},
             {batch.labels.data_ptr<std::int64_t>(), images.size()});
  return batch;
}

}  // namespace narrowcast
