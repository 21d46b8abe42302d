#pragma once

#include <string>
#include <vector>

#include "exchange/engine/codecs.hpp"
#include "exchange/engine/residuals.hpp"
#include "exchange/exchange.hpp"

namespace narrowcast {

// The residuals of a run that had another number of ranks.
class Regrouping {
 public:
  // Arrays that have been checked, see exchange/engine/keeping.hpp.
  Regrouping(const std::vector<Array>& saved, const std::vector<Tensor>& tensors, int old_ranks);

  // The senders' mean, and the part of the owners' that `rank` of `ranks` owns now. Sums over more
  // ranks are larger, and so is what is held back of them: the senders' grows with the number of
  // ranks, each having the mean, and the owners' is multiplied.
  Residual of(std::size_t tensor, int rank, int ranks, Codecs& codecs) const;

 private:
  void add(const Array& array);

  const std::vector<Tensor>& tensors_;
  int old_ranks_;
  std::vector<std::vector<double>> senders_;  // summed up, by tensor
  std::vector<std::vector<double>> owners_;
  std::vector<std::string> passages_;
};

}  // namespace narrowcast
