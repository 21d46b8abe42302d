#include "bench/collective_replay.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <string>

#include "base/error.hpp"

namespace narrowcast::bench {
namespace {

constexpr std::size_t kSamples = 64;
constexpr std::size_t kLeastValues = 256;  // of a sample, unless the tensor is shorter
constexpr std::size_t kMostUncut = std::size_t{1} << 20;

// Some whole blocks of the tensor, starting at one.
class Blocks {
 public:
  Blocks(const Play& play, const Stretch& where)
      : play_(play), where_(where), wire_(play.codec.max_bytes(where.count)) {}

  std::vector<float> share(int rank) const {
    std::vector<float> values(where_.count);
    play_.inputs.draw(rank, play_.where.begin + where_.begin, values);
    return values;
  }

  // As everybody sees it who gets it encoded.
  std::vector<float> seen(std::vector<float> values, int rank, Stage stage, int hop = 0) {
    const Stream stream = stream_of({.seed = play_.how.travel.seed,
                                     .step = play_.how.travel.step,
                                     .tensor = play_.tensor,
                                     .rank = static_cast<std::uint32_t>(rank),
                                     .stage = stage,
                                     .hop = static_cast<std::uint32_t>(hop)});
    const std::size_t bytes =
        play_.codec.encode(values, wire_, {.stream = stream, .first_index = where_.begin});
    play_.codec.decode(Bytes(wire_).first(bytes), values);
    return values;
  }

  std::vector<float> copy(int rank) { return seen(share(rank), rank, Stage::first); }

  std::vector<float> sum_of_ranks(int begin, int end) {
    std::vector<float> sum = copy(begin);
    for (int rank = begin + 1; rank < end; ++rank) add(sum, copy(rank));
    return sum;
  }

  std::vector<float> sum() { return sum_of_ranks(0, play_.ranks); }
  std::vector<float> direct() { return seen(sum(), 0, Stage::again); }

  std::vector<float> hierarchy() {
    const int size = play_.how.group;
    if (size <= 1 || size >= play_.ranks) return direct();
    std::vector<float> sum(where_.count);
    for (int group = 0; group * size < play_.ranks; ++group) {
      const int end = std::min(play_.ranks, (group + 1) * size);
      std::vector<float> part = seen(sum_of_ranks(group * size, end), group, Stage::hop);
      if (group == 0)
        sum = std::move(part);
      else
        add(sum, part);
    }
    return seen(std::move(sum), 0, Stage::again);
  }

  std::vector<float> once_around(int start) {
    std::vector<float> sum = copy(start);
    for (int hop = 1; hop < play_.ranks; ++hop) {
      const int rank = (start + hop) % play_.ranks;
      add(sum, share(rank));
      sum = seen(std::move(sum), rank, Stage::hop, hop);
    }
    return sum;
  }

 private:
  static void add(std::vector<float>& sum, const std::vector<float>& values) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
  }

  const Play& play_;
  Stretch where_;
  std::vector<std::byte> wire_;
};

std::vector<Stretch> spread(std::size_t count, std::size_t block) {
  if (count == 0) return {};
  if (block == 0)
    return count <= kMostUncut ? std::vector<Stretch>{{0, count}} : std::vector<Stretch>{};
  const std::size_t length = (kLeastValues + block - 1) / block * block;
  const std::size_t all = (count + length - 1) / length;
  const std::size_t taken = std::min(all, kSamples);
  std::vector<Stretch> found;
  for (std::size_t i = 0; i < taken; ++i) {
    // In steps that need not be whole, so that the last one is the last.
    const std::size_t begin = (taken == 1 ? 0 : i * (all - 1) / (taken - 1)) * length;
    found.push_back({begin, std::min(length, count - begin)});
  }
  return found;
}

using Rule = std::function<std::vector<float>(Blocks&)>;

std::vector<Sample> at(const Play& play, const std::vector<Stretch>& stretches, const Rule& rule) {
  std::vector<Sample> samples;
  for (const Stretch& where : stretches) {
    Blocks blocks(play, where);
    samples.push_back({where.begin, {rule(blocks)}});
  }
  return samples;
}

// Every shard starts at another rank.
std::vector<Sample> around(const Play& play, const std::vector<Stretch>& stretches) {
  std::vector<Sample> samples;
  for (const Stretch& where : stretches) {
    // With the ranks the ways grow as well as what each of them takes.
    if (where.count > kMostUncut / static_cast<std::size_t>(play.ranks)) continue;
    Blocks blocks(play, where);
    samples.push_back({where.begin, {}});
    for (int start = 0; start < play.ranks; ++start)
      samples.back().ways.push_back(blocks.once_around(start));
  }
  return samples;
}

std::vector<Sample> add_by(const AllReduceRow& row, const Play& play,
                           const std::vector<Stretch>& stretches) {
  if (row.name == "ring") return around(play, stretches);
  if (row.name == "direct") return at(play, stretches, &Blocks::direct);
  if (row.name == "gather") return at(play, stretches, &Blocks::sum);
  if (row.name == "hierarchy") return at(play, stretches, &Blocks::hierarchy);
  throw Error(Fault::system, "what " + std::string(row.name) + " leaves is not known");
}

std::vector<Stretch> stretches_of(const Play& play) {
  return spread(play.where.count, play.codec.promise().block);
}

}  // namespace

bool Sample::has(std::size_t i, float x) const {
  return std::ranges::any_of(ways, [&](const std::vector<float>& values) {
    return std::bit_cast<std::uint32_t>(values[i]) == std::bit_cast<std::uint32_t>(x);
  });
}

std::vector<Sample> replay_all_reduce(const Play& play, const AllReduceRow& row) {
  if (play.how.sum != Sum::fp32 || play.how.self != Self::encoded) return {};
  std::vector<Sample> samples = add_by(row, play, stretches_of(play));
  if (play.how.result == Result::average)
    for (Sample& sample : samples)
      for (std::vector<float>& values : sample.ways)
        for (float& x : values) x /= static_cast<float>(play.ranks);
  return samples;
}

std::vector<Sample> replay_scattered(const Play& play) {
  return at(play, stretches_of(play), &Blocks::sum);
}

std::vector<Sample> replay_copy(const Play& play, int rank) {
  return at(play, stretches_of(play), [&](Blocks& blocks) { return blocks.copy(rank); });
}

}  // namespace narrowcast::bench
