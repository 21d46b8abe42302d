#include "exchange/engine/bundle.hpp"

#include <algorithm>

#include "exchange/engine/scan.hpp"

namespace narrowcast {
namespace {

// What `auto` takes a link to cost: a machine's own memory, a network of 1 Gbit/s, an 8-bit codec on
// one core. Equal everywhere, so that all ranks choose alike without asking each other.
constexpr LinkCost kUsualLink{.machine = {.message_us = 5, .byte_us = 0.0002},
                              .network = {.message_us = 50, .byte_us = 0.008},
                              .encode_us = 0.0006,
                              .decode_us = 0.0004};

bool is_fp32(const Codec& codec) { return codec.spec() == "fp32"; }

}  // namespace

Bundle::Bundle(const Common& common, std::vector<std::size_t> tensors, Conversation group)
    : common_(common),
      tensors_(std::move(tensors)),
      group_(std::move(group)),
      passages_(tensors_.size()),
      pieces_(tensors_.size()) {
  for (std::size_t i = 0; i < tensors_.size(); ++i) pieces_[i].tensor = id_of(tensor(i));
}

Reduction Bundle::reduction(const Moment& moment) const {
  return {.travel = {.seed = common_.seed, .step = moment.step},
          .result = plan().total == Total::average ? Result::average : Result::sum,
          .group = plan().group};
}

void Bundle::carry(const Moment& moment, std::span<Item> items, StepReport& report) {
  items_ = items;
  for (std::size_t i = 0; i < pieces_.size(); ++i) pieces_[i].values = item(i).values;
  find_ways(moment);
  add_residuals();
  scale(report);
  const std::uint64_t before = common_.net.bytes_sent();
  all_reduce(*row_, pieces_, reduction(moment), group_);
  account(common_.net.bytes_sent() - before, report);
  if (plan().non_finite == NonFinitePolicy::propagate) return;
  for (std::size_t i = 0; i < pieces_.size(); ++i)
    item(i).sum_is_finite = scan(item(i).values).all_finite;
}

void Bundle::find_ways(const Moment& moment) {
  bool changed = false;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const Way& way = way_of(plan(), tensor(i).name, tensor(i).elements, moment);
    if (passages_[i].way == &way) continue;
    passages_[i] = {.way = &way, .codec = &common_.codecs.codec(way.codec, tensor(i))};
    pieces_[i].codec = passages_[i].codec;
    changed = true;
  }
  if (changed) choose();
}

// The algorithm, and whatever else follows from the ways alone.
void Bundle::choose() {
  for (Piece& piece : pieces_) {
    piece.exponent = 0;
    piece.sender_residual = piece.owner_residual = {};
  }
  const Reduction how = reduction({});
  row_ = plan().algorithm == "auto" ? &choose_all_reduce(pieces_, how, kUsualLink, group_.size())
                                    : &all_reduce_row(plan().algorithm);
  costs_.clear();
  std::vector<Piece> plain = pieces_;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    Passage& passage = passages_[i];
    passage.feedback = {.feedback =
                            passage.way->feedback == Feedback::on && !is_fp32(*passage.codec)};
    const bool held = passage.feedback.feedback && row_->owner_residual;
    if (held)
      passage.feedback.passage = passage_of(row_->name, plan().group, passage.codec->spec());
    if (passage.way->scaling != Scaling::none)
      passage.scale = &common_.codecs.scale(*passage.codec, passage.way->scaling,
                                            {.ranks = group_.size(),
                                             .group = row_->name == "hierarchy" ? plan().group : 0,
                                             .held = held ? 1 : 0});
    plain[i].codec = &common_.codecs.codec("fp32", tensor(i));
    add_cost(pieces_[i], passage);
  }
  fp32_bytes_ = row_->traffic(plain, how, group_.rank(), group_.size()).bytes();
}

void Bundle::add_cost(const Piece& piece, const Passage& passage) {
  const std::size_t bytes =
      row_->traffic({&piece, 1}, reduction({}), group_.rank(), group_.size()).bytes();
  auto found = std::ranges::find(costs_, passage.way->codec, &Cost::spec);
  if (found == costs_.end())
    found = costs_.insert(costs_.end(),
                          {.spec = passage.way->codec, .fixed = piece.codec->promise().fixed_size});
  found->bytes += bytes;
}

// A tensor that this rank has not made ready keeps what is held back for the next time.
void Bundle::add_residuals() {
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    pieces_[i].sender_residual = pieces_[i].owner_residual = {};
    if (!item(i).here) continue;
    Residual& residual = *item(i).residual;
    settle(residual, item(i).values, passages_[i].feedback);
    pieces_[i].sender_residual = residual.sender;
    pieces_[i].owner_residual = residual.owner;
  }
}

// Returns what scaling wants to know of all ranks.
std::uint8_t Bundle::look(std::size_t place) {
  const Piece& piece = pieces_[place];
  const Scale* scale = passages_[place].scale;
  const bool watched = plan().non_finite != NonFinitePolicy::propagate;
  if (!item(place).here || (!watched && scale == nullptr)) return 0;
  const Magnitudes own = scan(piece.values, piece.sender_residual);
  if (watched && !own.all_finite) {
    // Nobody will use the sum, and some codecs refuse NaN.
    item(place).finite = false;
    std::ranges::fill(piece.values, 0.0F);
  }
  if (scale == nullptr) return 0;
  return scale->code(std::max(own.largest, scan(piece.owner_residual).largest));
}

void Bundle::scale(StepReport& report) {
  std::vector<std::uint8_t> codes;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const std::uint8_t code = look(i);
    if (passages_[i].scale != nullptr) codes.push_back(code);
  }
  all_max(codes, group_);
  const std::size_t bytes = all_max_traffic(codes.size(), group_.size()).bytes();
  if (bytes != 0) report.bytes_by_codec[kControlBytes] += bytes;
  auto code = codes.begin();
  for (std::size_t i = 0; i < pieces_.size(); ++i)
    pieces_[i].exponent = passages_[i].scale == nullptr ? 0 : Scale::exponent_of(*code++);
}

// Codecs of fixed size have the bytes that the algorithm declares. What else was sent is divided
// among the others as what they may take at most.
void Bundle::account(std::uint64_t sent, StepReport& report) const {
  std::uint64_t most = 0;
  for (const Cost& cost : costs_) {
    if (cost.fixed)
      sent -= cost.bytes;
    else
      most += cost.bytes;
  }
  for (const Cost& cost : costs_) {
    std::uint64_t bytes = cost.bytes;
    if (!cost.fixed) {
      bytes = most == 0 ? 0
                        : static_cast<std::uint64_t>(static_cast<double>(sent) *
                                                     static_cast<double>(cost.bytes) /
                                                     static_cast<double>(most));
      sent -= std::min(sent, bytes);
      most -= cost.bytes;
    }
    report.bytes_by_codec[cost.spec] += bytes;
  }
  report.fp32_bytes += fp32_bytes_;
}

}  // namespace narrowcast
