#include "bench/collective_expectation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "bench/collective_bound.hpp"
#include "codec/samples.hpp"

namespace narrowcast::bench {
namespace {

// Values that are looked at together stay in the cache.
constexpr std::size_t kWindow = std::size_t{1} << 14;

const Promise kExact = {};

constexpr float kMostFinite = std::numeric_limits<float>::max();

float rounded_up(double x) {
  return std::nextafter(static_cast<float>(x), std::numeric_limits<float>::infinity());
}

// A part of the tensor that begins at a block border: who adds up what, and what comes of it.
class Window {
 public:
  Window(const Inputs& inputs, const Promise& promise, const Stretch& where)
      : inputs_(inputs),
        promise_(promise),
        where_(where),
        values_(where.count),
        exact_(where.count),
        reach_(where.count),
        one_(where.count),
        group_(where.count),
        total_(where.count) {}

  const std::vector<double>& exact() const { return exact_; }

  // An unbounded error excuses what is not finite only where ranks together go beyond the format,
  // at this value or at another one of its block.
  void append_allowed(std::vector<float>& to) const {
    const std::size_t block = promise_.block == 0 ? where_.count : promise_.block;
    for (std::size_t begin = 0; begin < where_.count; begin += block) {
      const auto part = std::span(reach_).subspan(begin, std::min(block, where_.count - begin));
      const bool beyond = std::ranges::max(part) > promise_.largest;
      for (std::size_t i = begin; i < begin + part.size(); ++i)
        to.push_back(beyond ? rounded_up(total_.error()[i])
                            : std::min(rounded_up(total_.error()[i]), kMostFinite));
    }
  }

  void copy(int rank) {
    draw(rank);
    total_.start(values_);
    total_.round(promise_);
  }

  // Encoded contributions of some ranks, added up in `into`.
  void add(int begin, int end, Sum sum, Bound& into) {
    for (int rank = begin; rank < end; ++rank) {
      draw(rank);
      Bound& place = rank == begin ? into : one_;
      place.start(values_);
      place.round(promise_);
      if (rank != begin) add(into, one_, sum);
    }
  }

  void add_directly(int ranks, Sum sum) { add(0, ranks, sum, total_); }

  void add_in_groups(int ranks, int group, Sum sum) {
    for (int begin = 0; begin < ranks; begin += group) {
      Bound& place = begin == 0 ? total_ : group_;
      add(begin, std::min(begin + group, ranks), sum, place);
      place.round(promise_);
      if (begin != 0) add(total_, group_, sum);
    }
  }

  // Shards start at different ranks, so partial sums can be those of any ranks: all of them bound
  // every one.
  void add_around(int ranks, Sum sum) {
    for (int rank = 0; rank < ranks; ++rank) {
      draw(rank);
      Bound& place = rank == 0 ? total_ : one_;
      place.start(values_);
      if (sum == Sum::format) place.round(promise_);
      if (rank != 0) total_.put(one_);
    }
    for (int rank = 0; rank < ranks; ++rank) {
      total_.round_sum();
      total_.round(promise_);
    }
  }

  // The sum is encoded once more, before it goes to everybody.
  void encode_sum() {
    total_.tighten(exact_);
    total_.round(promise_);
  }

  void average(int ranks) {
    for (double& x : exact_) x /= ranks;
    total_.divide(ranks);
  }

 private:
  void draw(int rank) {
    inputs_.draw(rank, where_.begin, values_);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      exact_[i] += static_cast<double>(values_[i]);
      reach_[i] += std::abs(static_cast<double>(values_[i]));
    }
  }

  void add(Bound& to, const Bound& from, Sum sum) {
    if (sum == Sum::kahan) return to.add_compensated(from, promise_);
    to.add(from);
    if (sum == Sum::format) to.round(promise_);
  }

  const Inputs& inputs_;
  const Promise& promise_;
  Stretch where_;
  std::vector<float> values_;
  std::vector<double> exact_;
  std::vector<double> reach_;  // of all |values|
  Bound one_;
  Bound group_;
  Bound total_;
};

// Whole blocks that are about kWindow long, one after the other.
Expectation in_windows(const Inputs& inputs, const Promise& promise, const Stretch& all,
                       const std::function<void(Window&)>& add) {
  const std::size_t step = promise.block == 0
                               ? all.count
                               : (kWindow + promise.block - 1) / promise.block * promise.block;
  Expectation found;
  found.exact.reserve(all.count);
  found.allowed.reserve(all.count);
  for (std::size_t done = 0; done < all.count; done += step) {
    Window window(inputs, promise, {all.begin + done, std::min(step, all.count - done)});
    add(window);
    found.exact.insert(found.exact.end(), window.exact().begin(), window.exact().end());
    window.append_allowed(found.allowed);
  }
  return found;
}

void add_hierarchically(Window& window, const Addition& addition) {
  const int group = addition.how.group;
  if (group <= 1 || group >= addition.ranks)
    window.add_directly(addition.ranks, addition.how.sum);
  else
    window.add_in_groups(addition.ranks, group, addition.how.sum);
  window.encode_sum();
}

void add_by(const AllReduceRow& algorithm, Window& window, const Addition& addition) {
  if (algorithm.name == "direct") {
    window.add_directly(addition.ranks, addition.how.sum);
    window.encode_sum();
  } else if (algorithm.name == "ring") {
    window.add_around(addition.ranks, addition.how.sum);
  } else if (algorithm.name == "hierarchy") {
    add_hierarchically(window, addition);
  } else if (algorithm.name == "gather") {
    window.add_directly(addition.ranks, addition.how.sum);
  } else {
    throw Error(Fault::system,
                "how far " + std::string(algorithm.name) + " may be off is not known");
  }
}

}  // namespace

void Inputs::draw(int rank, std::size_t begin, MutableFloats out) const {
  static const Distribution& gradient = distribution("gradient");
  gradient.draw(stream_of({.seed = seed, .rank = static_cast<std::uint32_t>(rank)}), begin, out);
}

double Expectation::largest() const {
  double most = 0;
  for (const double x : exact) most = std::max(most, std::abs(x));
  return most;
}

double Expectation::error_of(Floats result) const {
  double most = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double error = std::abs(static_cast<double>(result[i]) - exact[i]);
    most = std::max(most, std::isnan(error) ? std::numeric_limits<double>::infinity() : error);
  }
  return most == 0 ? 0 : most / largest();
}

bool Expectation::allows(std::size_t i, float x) const {
  return std::isinf(allowed[i]) ||
         std::abs(static_cast<double>(x) - exact[i]) <= static_cast<double>(allowed[i]);
}

Expectation expect_all_reduce(const Inputs& inputs, const Addition& addition, std::size_t count) {
  const Promise& promise = addition.codec == nullptr ? kExact : addition.codec->promise();
  return in_windows(inputs, promise, {0, count}, [&](Window& window) {
    if (addition.algorithm == nullptr)
      window.add_around(addition.ranks, Sum::fp32);
    else
      add_by(*addition.algorithm, window, addition);
    if (addition.how.result == Result::average) window.average(addition.ranks);
  });
}

Expectation expect_scattered(const Inputs& inputs, const Addition& addition, const Stretch& where) {
  return in_windows(inputs, addition.codec->promise(), where,
                    [&](Window& window) { window.add_directly(addition.ranks, Sum::fp32); });
}

Expectation expect_copy(const Inputs& inputs, int rank, const Codec& codec, const Stretch& where) {
  return in_windows(inputs, codec.promise(), where, [&](Window& window) { window.copy(rank); });
}

void append(Expectation& to, const Expectation& more) {
  to.exact.insert(to.exact.end(), more.exact.begin(), more.exact.end());
  to.allowed.insert(to.allowed.end(), more.allowed.begin(), more.allowed.end());
}

}  // namespace narrowcast::bench
