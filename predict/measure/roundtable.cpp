#include <algorithm>
#include <span>

#include "base/error.hpp"
#include "predict/measure/measure.hpp"

namespace narrowcast {

// Everybody tells rank 0, which tells everybody: there are few numbers.
std::vector<double> Roundtable::reduce(std::vector<double> own, double (*take)(double, double)) {
  const std::uint64_t sequence = sequence_++;
  const MutableBytes mine = std::as_writable_bytes(std::span(own));
  const auto await = [&](int peer, MutableBytes bytes) {
    const Arrival arrival = net_.receive({peer, channel_, sequence}, bytes).wait();
    require(arrival.length == bytes.size(), Fault::wire, "ranks measure different things");
  };
  if (net_.rank() != 0) {
    net_.send({0, channel_, sequence}, mine).wait();
    await(0, mine);
    return own;
  }
  std::vector<double> other(own.size());
  for (int peer = 1; peer < net_.size(); ++peer) {
    await(peer, std::as_writable_bytes(std::span(other)));
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = take(own[i], other[i]);
  }
  for (int peer = 1; peer < net_.size(); ++peer) net_.send({peer, channel_, sequence}, mine).wait();
  return own;
}

std::vector<double> Roundtable::largest(std::vector<double> own) {
  return reduce(std::move(own), [](double a, double b) { return std::max(a, b); });
}

std::vector<double> Roundtable::mean(std::vector<double> own) {
  std::vector<double> sums = reduce(std::move(own), [](double a, double b) { return a + b; });
  for (double& sum : sums) sum /= net_.size();
  return sums;
}

}  // namespace narrowcast
