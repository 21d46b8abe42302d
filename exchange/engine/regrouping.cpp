#include "exchange/engine/regrouping.hpp"

#include <algorithm>

#include "collective/collective.hpp"
#include "exchange/engine/labels.hpp"

namespace narrowcast {
namespace {

std::vector<float> scaled(const std::vector<double>& sum, double factor) {
  std::vector<float> values(sum.size());
  std::ranges::transform(sum, values.begin(),
                         [&](double value) { return static_cast<float>(value * factor); });
  return values;
}

}  // namespace

Regrouping::Regrouping(const std::vector<Array>& saved, const std::vector<Tensor>& tensors,
                       int old_ranks)
    : tensors_(tensors),
      old_ranks_(old_ranks),
      senders_(tensors.size()),
      owners_(tensors.size()),
      passages_(tensors.size()) {
  for (const Array& array : saved) add(array);
}

void Regrouping::add(const Array& array) {
  const Label label = label_of(array, tensors_);
  if (label.keeps == Keeps::ranks) return;
  if (label.keeps == Keeps::passage) {
    passages_[label.tensor] = text_of(array);
    return;
  }
  std::vector<double>& sum = (label.keeps == Keeps::sender ? senders_ : owners_)[label.tensor];
  sum.resize(tensors_[label.tensor].elements);
  const Floats values = floats_of(array);
  for (std::size_t i = 0; i < values.size(); ++i) sum[label.begin + i] += values[i];
}

Residual Regrouping::of(std::size_t tensor, int rank, int ranks, Codecs& codecs) const {
  const double growth = static_cast<double>(ranks) / old_ranks_;
  Residual residual{.sender = scaled(senders_[tensor], 1.0 / old_ranks_),
                    .owner = scaled(owners_[tensor], growth),
                    .passage = passages_[tensor]};
  if (residual.owner.empty()) return residual;
  const Piece piece{.tensor = id_of(tensors_[tensor]),
                    .values = residual.owner,
                    .codec = &codecs.codec(codec_in(residual.passage), tensors_[tensor])};
  const Shard own = owned(piece, rank, ranks);
  const auto begin = residual.owner.begin() + static_cast<std::ptrdiff_t>(own.begin);
  std::fill(residual.owner.begin(), begin, 0.0F);
  std::fill(begin + static_cast<std::ptrdiff_t>(own.count), residual.owner.end(), 0.0F);
  return residual;
}

}  // namespace narrowcast
