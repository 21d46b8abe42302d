#include "emulate/nodes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "codec/compensated.hpp"

namespace narrowcast {
namespace {

// Shards are cut at multiples of this, and of the codec's block, as collective/ cuts them.
constexpr std::size_t kGrain = 256;
// Values that are summed at a time: a few vectors of them stay in the first-level cache.
constexpr std::size_t kPart = 2048;

std::size_t up_to_multiple(std::size_t n, std::size_t of) { return (n + of - 1) / of * of; }

// Neighbouring values, and the node at which their sum begins.
struct Part {
  std::size_t begin;
  std::size_t count;
  std::size_t start;
};

void cut(Part shard, std::size_t most, std::vector<Part>& parts) {
  for (std::size_t done = 0; done < shard.count; done += most)
    parts.push_back({shard.begin + done, std::min(most, shard.count - done), shard.start});
}

std::vector<Part> parts_of(std::size_t values, std::size_t nodes, const NodeSum& how) {
  const std::size_t block = how.codec->promise().block;
  const std::size_t grain = up_to_multiple(kGrain, block);
  const std::size_t most = up_to_multiple(kPart, grain);
  std::vector<Part> parts;
  if (how.order == Order::hierarchy) {
    cut({0, values, 0}, most, parts);
    return parts;
  }
  const std::size_t grains = (values + grain - 1) / grain;
  const auto begin = [&](std::size_t shard) {
    return std::min(values, (grains / nodes * shard + grains % nodes * shard / nodes) * grain);
  };
  for (std::size_t shard = 0; shard < nodes; ++shard)
    cut({begin(shard), begin(shard + 1) - begin(shard), (shard + how.tensor % nodes) % nodes}, most,
        parts);
  return parts;
}

// A growing sum of some values, each step rounded.
class Partial {
 public:
  Partial(const NodeSum& how, const Part& part) : how_(how), part_(part) {}

  // Sums of the same values at different levels round with different dice.
  void begin(std::uint32_t level) {
    level_ = level;
    count_ = 0;
  }

  // `addend` is rounded already, and scratch memory afterwards.
  void add(MutableFloats addend) {
    if (count_ == 0) {
      sum_.assign(addend.begin(), addend.end());
      rest_.assign(addend.size(), 0);
    } else if (how_.compensation == Compensation::kahan) {
      add_compensated(addend);
    } else {
      for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += addend[i];
      round(sum_, {.rank = level_, .stage = Stage::hop, .hop = count_ * 4});
    }
    ++count_;
  }

  // On the ring the node that adds throws the dice.
  void add_at(std::uint32_t node, MutableFloats addend) {
    if (count_ == 0 || how_.compensation == Compensation::kahan) return add(addend);
    for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += addend[i];
    round(sum_, {.rank = node, .stage = Stage::hop, .hop = count_});
    ++count_;
  }

  void round(MutableFloats values, Dice dice) const {
    dice.seed = how_.seed;
    dice.step = how_.step;
    dice.tensor = how_.tensor;
    how_.codec->quantize(values, values, {.stream = stream_of(dice), .first_index = part_.begin});
  }

  MutableFloats sum() { return sum_; }

 private:
  Dice turn(std::uint32_t which) const {
    return {.rank = level_, .stage = Stage::hop, .hop = count_ * 4 + which};
  }

  // The steps of emulate/gemm.hpp.
  void add_compensated(MutableFloats addend) {
    next_.resize(addend.size());
    narrowcast::add_compensated(
        {.sum = sum_, .rest = rest_, .addend = addend, .next = next_},
        [&](MutableFloats values, std::uint32_t which) { round(values, turn(which)); });
  }

  const NodeSum& how_;
  Part part_;
  std::uint32_t level_ = 0;
  std::uint32_t count_ = 0;
  std::vector<float> sum_;
  std::vector<float> rest_;
  std::vector<float> next_;
};

class Summing {
 public:
  Summing(std::span<const Floats> nodes, const NodeSum& how, int exponent)
      : nodes_(nodes), how_(how), factor_(std::ldexp(1.0f, exponent)) {}

  // The sum of a part, multiplied back.
  void run(const Part& part, MutableFloats out) const {
    Partial sum(how_, part);
    std::vector<float> share(part.count);
    if (how_.order == Order::ring)
      around(part, share, sum);
    else
      by_groups(part, share, sum);
    for (std::size_t i = 0; i < part.count; ++i) out[part.begin + i] = sum.sum()[i] / factor_;
  }

 private:
  // As everybody sees it who gets it.
  void fetch(std::size_t node, const Part& part, MutableFloats share, const Partial& sum) const {
    const Floats values = nodes_[node].subspan(part.begin, part.count);
    for (std::size_t i = 0; i < part.count; ++i) share[i] = values[i] * factor_;
    sum.round(share, {.rank = static_cast<std::uint32_t>(node)});
  }

  void around(const Part& part, MutableFloats share, Partial& sum) const {
    sum.begin(0);
    for (std::size_t hop = 0; hop < nodes_.size(); ++hop) {
      const std::size_t node = (part.start + hop) % nodes_.size();
      fetch(node, part, share, sum);
      sum.add_at(static_cast<std::uint32_t>(node), share);
    }
  }

  void add_range(std::size_t first, const Part& part, MutableFloats share, Partial& sum) const {
    const std::size_t end = std::min(nodes_.size(), first + group());
    for (std::size_t node = first; node < end; ++node) {
      fetch(node, part, share, sum);
      sum.add(share);
    }
  }

  void by_groups(const Part& part, MutableFloats share, Partial& sum) const {
    sum.begin(0);
    if (group() >= nodes_.size() || group() == 1) {
      for (std::size_t first = 0; first < nodes_.size(); first += group())
        add_range(first, part, share, sum);
      return;
    }
    Partial of_group(how_, part);
    for (std::size_t first = 0; first < nodes_.size(); first += group()) {
      of_group.begin(static_cast<std::uint32_t>(1 + first / group()));
      add_range(first, part, share, of_group);
      sum.add(of_group.sum());
    }
  }

  std::size_t group() const {
    return how_.group == 0 ? nodes_.size() : static_cast<std::size_t>(how_.group);
  }

  std::span<const Floats> nodes_;
  const NodeSum& how_;
  float factor_;
};

void check(std::span<const Floats> nodes, MutableFloats sum, const NodeSum& how) {
  require(!nodes.empty(), Fault::usage, "a sum needs one node at least");
  require(how.codec != nullptr, Fault::usage, "no format for the sum of nodes");
  require(how.group >= 0, Fault::usage, "a group has one node at least; 0: all of them");
  for (std::size_t node = 0; node < nodes.size(); ++node)
    if (nodes[node].size() != sum.size())
      throw Error(Fault::usage, fmt::format("node {} has {} values, the sum has {}", node,
                                            nodes[node].size(), sum.size()));
  if (how.codec->promise().block == 0)
    throw Error(Fault::usage, fmt::format("sums of nodes are cut, which {} may not be: give it a "
                                          "block",
                                          how.codec->spec()));
}

// As integers, so that NaN is the largest of all.
float largest_magnitude(std::span<const Floats> nodes) {
  std::uint32_t most = 0;
  for (const Floats& values : nodes)
    for (const float x : values)
      most = std::max(most, std::bit_cast<std::uint32_t>(x) & 0x7fffffffu);
  return std::bit_cast<float>(most);
}

int exponent_of(std::span<const Floats> nodes, const NodeSum& how) {
  if (how.scaling == Scaling::none) return 0;
  const Scale scale(*how.codec, how.scaling,
                    {.ranks = static_cast<int>(nodes.size()),
                     .group = how.order == Order::hierarchy ? how.group : 0});
  const float largest = largest_magnitude(nodes);
  return largest == 0 || !std::isfinite(largest) ? 0 : scale.exponent(largest);
}

}  // namespace

int sum_nodes(std::span<const Floats> nodes, MutableFloats sum, const NodeSum& how, Team& team) {
  check(nodes, sum, how);
  const int exponent = exponent_of(nodes, how);
  const Summing summing(nodes, how, exponent);
  const std::vector<Part> parts = parts_of(sum.size(), nodes.size(), how);
  team.run([&](int member) {
    for (std::size_t i = static_cast<std::size_t>(member); i < parts.size();
         i += static_cast<std::size_t>(team.size()))
      summing.run(parts[i], sum);
  });
  return exponent;
}

}  // namespace narrowcast
