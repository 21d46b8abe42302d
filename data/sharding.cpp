#include <fmt/core.h>

#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "data/data.hpp"
#include "data/source/dice.hpp"

namespace narrowcast {
namespace {

void require_sense(const Sharding& how) {
  if (how.ranks < 1 || how.rank < 0 || how.rank >= how.ranks)
    throw Error(Fault::usage, fmt::format("there is no rank {} of {}", how.rank, how.ranks));
  require(how.batch >= 1, Fault::usage, "a batch has at least one image");
  require(how.batch <= std::numeric_limits<std::size_t>::max() / static_cast<unsigned>(how.ranks),
          Fault::usage, "a batch of so many images fits nowhere");
}

}  // namespace

std::size_t steps_of(std::size_t images, const Sharding& how) {
  require_sense(how);
  return images / (how.batch * static_cast<std::size_t>(how.ranks));
}

std::vector<std::size_t> shard(std::size_t images, const Sharding& how) {
  const std::size_t steps = steps_of(images, how);
  std::vector<std::size_t> order(images);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const Stream stream = dice::stream(how.seed, how.epoch, dice::Use::order);
  for (std::size_t left = images; left > 1; --left)
    std::swap(order[left - 1], order[dice::below(left, random_words(stream, left))]);

  std::vector<std::size_t> mine;
  mine.reserve(steps * how.batch);
  for (std::size_t step = 0; step < steps; ++step) {
    const std::size_t run =
        step * static_cast<std::size_t>(how.ranks) + static_cast<std::size_t>(how.rank);
    const auto first = order.begin() + static_cast<std::ptrdiff_t>(run * how.batch);
    mine.insert(mine.end(), first, first + static_cast<std::ptrdiff_t>(how.batch));
  }
  return mine;
}

}  // namespace narrowcast
