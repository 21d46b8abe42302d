#include "exchange/engine/residuals.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace narrowcast {
namespace {

void add(Floats what, MutableFloats to) {
  for (std::size_t i = 0; i < what.size(); ++i) to[i] += what[i];
}

void hand_over(Residual& residual) {
  if (residual.sender.empty())
    residual.sender = std::move(residual.owner);
  else
    add(residual.owner, residual.sender);
  residual.owner = {};
}

}  // namespace

std::string passage_of(std::string_view algorithm, int group, const std::string& codec) {
  // Who owns what in a hierarchy depends on its groups.
  const std::string groups = algorithm == "hierarchy" ? '/' + std::to_string(group) : "";
  return std::string(algorithm) + groups + ' ' + codec;
}

std::string codec_in(const std::string& passage) { return passage.substr(passage.find(' ') + 1); }

void settle(Residual& residual, MutableFloats values, const FeedbackWay& way) {
  if (!residual.owner.empty() && (!way.feedback || residual.passage != way.passage))
    hand_over(residual);
  residual.passage = way.passage;
  if (!way.feedback) {
    add(residual.sender, values);
    residual = {};
    return;
  }
  residual.sender.resize(values.size());
  if (!way.passage.empty()) residual.owner.resize(values.size());
}

Extension extension_of(Floats residual) {
  // By bits: a negative zero makes a difference to what it is added to.
  const auto is_set = [](float value) { return std::bit_cast<std::uint32_t>(value) != 0; };
  const auto first = std::find_if(residual.begin(), residual.end(), is_set);
  const auto last = std::find_if(residual.rbegin(), residual.rend(), is_set).base();
  if (first == residual.end()) return {};
  return {static_cast<std::size_t>(first - residual.begin()),
          static_cast<std::size_t>(last - first)};
}

}  // namespace narrowcast
