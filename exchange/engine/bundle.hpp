#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collective/collective.hpp"
#include "exchange/engine/codecs.hpp"
#include "exchange/engine/meter.hpp"
#include "exchange/engine/residuals.hpp"
#include "exchange/exchange.hpp"

namespace narrowcast {

// One tensor in one step.
struct Item {
  MutableFloats values = {};
  bool here = false;          // this rank has made it ready
  bool finite = true;         // on this rank; looked at unless the policy is to propagate
  bool sum_is_finite = true;  // the same on every rank
  Residual* residual = nullptr;
};

// What the bundles of an exchange share.
struct Common {
  const Plan& plan;
  const std::vector<Tensor>& tensors;
  Codecs& codecs;
  Metered& net;
  std::uint64_t seed = 0;
};

// Bytes that are none of any tensor's, in StepReport::bytes_by_codec.
inline constexpr const char* kControlBytes = "control";

// Tensors that travel together.
class Bundle {
 public:
  Bundle(const Common& common, std::vector<std::size_t> tensors, Conversation group);

  const std::vector<std::size_t>& tensors() const { return tensors_; }

  // `items` are those of all tensors of the exchange, of which it takes its own; their values become
  // sums or averages.
  void carry(const Moment& moment, std::span<Item> items, StepReport& report);

 private:
  // How one tensor travels.
  struct Passage {
    const Way* way = nullptr;
    const Codec* codec = nullptr;
    const Scale* scale = nullptr;
    FeedbackWay feedback = {};
  };
  struct Cost {
    std::string spec;
    bool fixed = true;
    std::uint64_t bytes = 0;  // the most, unless fixed
  };

  const Plan& plan() const { return common_.plan; }
  Item& item(std::size_t place) const { return items_[tensors_[place]]; }
  const Tensor& tensor(std::size_t place) const { return common_.tensors[tensors_[place]]; }
  Reduction reduction(const Moment& moment) const;
  void find_ways(const Moment& moment);
  void choose();
  void add_cost(const Piece& piece, const Passage& passage);
  void add_residuals();
  std::uint8_t look(std::size_t place);
  void scale(StepReport& report);
  void account(std::uint64_t sent, StepReport& report) const;

  const Common& common_;
  std::vector<std::size_t> tensors_;
  Conversation group_;
  std::vector<Passage> passages_;
  std::vector<Piece> pieces_;
  std::span<Item> items_;
  const AllReduceRow* row_ = nullptr;
  std::vector<Cost> costs_;
  std::uint64_t fp32_bytes_ = 0;
};

}  // namespace narrowcast
