#include "tests/collective/reference.hpp"

#include <stdexcept>

#include "collective/pipeline/layout.hpp"
#include "tests/support/check.hpp"

namespace narrowcast::test {
namespace {

// One tensor of a trial.
class Whole {
 public:
  Whole(const Trial& trial, const Tensor& tensor)
      : trial_(trial), tensor_(tensor), codec_(make_codec(tensor.codec)) {}

  std::vector<float> share(int rank) const {
    return share_of(tensor_, rank, trial_.how.travel.step);
  }

  // As everybody sees it who gets it encoded.
  std::vector<float> seen(Floats values, std::uint32_t rank, Stage stage,
                          std::uint32_t hop = 0) const {
    const Encoding how{.stream = stream_of({.seed = trial_.how.travel.seed,
                                            .step = trial_.how.travel.step,
                                            .tensor = tensor_.id,
                                            .rank = rank,
                                            .stage = stage,
                                            .hop = hop}),
                       .exponent = tensor_.exponent};
    return round_trip(*codec_, values, how);
  }

  std::vector<float> sum_of_ranks(int begin, int end) const {
    std::vector<float> sum = seen(share(begin), begin, Stage::first);
    for (int rank = begin + 1; rank < end; ++rank) add(sum, seen(share(rank), rank, Stage::first));
    return sum;
  }

  std::vector<float> direct() const {
    return averaged(seen(sum_of_ranks(0, trial_.ranks), 0, Stage::again));
  }

  std::vector<float> gather() const { return averaged(sum_of_ranks(0, trial_.ranks)); }

  std::vector<float> hierarchy() const {
    const int size = trial_.how.group;
    if (size <= 1 || size >= trial_.ranks) return direct();
    std::vector<float> sum;
    for (int group = 0; group * size < trial_.ranks; ++group) {
      const int end = std::min(trial_.ranks, (group + 1) * size);
      const auto part = seen(sum_of_ranks(group * size, end), group, Stage::hop);
      if (group == 0)
        sum = part;
      else
        add(sum, part);
    }
    return averaged(seen(sum, 0, Stage::again));
  }

  // Shard s starts at rank s and ends at the one before it; whole tensors are rounded here, and of
  // each the shard is taken.
  std::vector<float> ring() const {
    std::vector<float> result(tensor_.values);
    std::vector<float> blank(tensor_.values);
    const Piece piece{.tensor = tensor_.id, .values = blank, .codec = codec_.get()};
    const Layout layout = Layout::shards({&piece, 1}, trial_.ranks, tensor_.values + 1);
    for (int shard = 0; shard < trial_.ranks; ++shard) {
      const std::vector<float> whole = once_around(shard);
      for (const Chunk& chunk : layout.shard(shard))
        for (const Part& part : chunk.parts)
          std::copy_n(whole.begin() + static_cast<std::ptrdiff_t>(part.begin), part.count,
                      result.begin() + static_cast<std::ptrdiff_t>(part.begin));
    }
    return averaged(result);
  }

 private:
  std::vector<float> once_around(int start) const {
    std::vector<float> sum = seen(share(start), start, Stage::first);
    for (int hop = 1; hop < trial_.ranks; ++hop) {
      const int rank = (start + hop) % trial_.ranks;
      add(sum, share(rank));
      sum = seen(sum, rank, Stage::hop, hop);
    }
    return sum;
  }

  static void add(std::vector<float>& sum, const std::vector<float>& values) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
  }

  std::vector<float> averaged(std::vector<float> sum) const {
    if (trial_.how.result == Result::average)
      for (float& value : sum) value /= static_cast<float>(trial_.ranks);
    return sum;
  }

  const Trial& trial_;
  const Tensor& tensor_;
  std::unique_ptr<Codec> codec_;
};

}  // namespace

Values reference(const AllReduceRow& row, const Trial& trial) {
  Values results;
  for (const Tensor& tensor : trial.tensors) {
    const Whole whole(trial, tensor);
    if (row.name == "direct")
      results.push_back(whole.direct());
    else if (row.name == "gather")
      results.push_back(whole.gather());
    else if (row.name == "hierarchy")
      results.push_back(whole.hierarchy());
    else if (row.name == "ring")
      results.push_back(whole.ring());
    else
      throw std::logic_error("no reference for " + std::string(row.name));
  }
  return results;
}

}  // namespace narrowcast::test
