#include "train/loop/rank_talk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.hpp"

namespace narrowcast {
RankTalk::RankTalk(Transport& net, Channel channel)
    : group_(net, channel), fp32_(make_codec("fp32")) {}

std::vector<float> RankTalk::sum(std::vector<float> values) {
  const Piece piece = {.tensor = 1, .values = values, .codec = fp32_.get()};
  const Reduction how = {.travel = {.step = ++calls_}};
  all_reduce(all_reduce_row("direct"), Pieces(&piece, 1), how, group_);
  return values;
}

// As floats that nobody computes with: fp32 copies bits.
void RankTalk::broadcast(MutableBytes bytes) {
  std::vector<float> carrier((bytes.size() + sizeof(float) - 1) / sizeof(float));
  if (rank() == 0 && !bytes.empty()) std::memcpy(carrier.data(), bytes.data(), bytes.size());
  const Piece piece = {.tensor = 2, .values = carrier, .codec = fp32_.get()};
  narrowcast::broadcast(Pieces(&piece, 1), 0, {.step = ++calls_}, group_);
  if (rank() != 0 && !bytes.empty()) std::memcpy(bytes.data(), carrier.data(), bytes.size());
}

std::uint64_t RankTalk::broadcast(std::uint64_t number) {
  broadcast(std::as_writable_bytes(std::span(&number, 1)));
  return number;
}

void RankTalk::broadcast(const torch::Tensor& tensor) {
  require(tensor.is_contiguous(), Fault::usage, "a tensor to be broadcast is not contiguous");
  broadcast(MutableBytes(static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()));
}

// A rank that has another hash than some other rank has, in some byte, a smaller one or a smaller
// complement: so each of them notices.
void RankTalk::require_equal(std::uint64_t hash, std::string_view what) {
  std::array<std::uint64_t, 2> both = {hash, ~hash};
  const std::array<std::uint64_t, 2> mine = both;
  all_max({reinterpret_cast<std::uint8_t*>(both.data()), sizeof both}, group_);
  if (both != mine)
    throw Error(Fault::wire, fmt::format("{} differ: rank {} has {:016x}", what, rank(), hash));
}

}  // namespace narrowcast
