#include "train/loop/optimiser.hpp"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "base/error.hpp"

// A step is bound by memory: one loop over each tensor, where torch's own make several.
namespace narrowcast {
namespace {

using Names = std::vector<std::string>;

// One parameter in a step.
struct Place {
  std::int64_t count = 0;
  float* weight = nullptr;
  const float* gradient = nullptr;
  std::array<float*, 2> state = {};
  std::int64_t dimensions = 0;
};

// weight = rule(weight, gradient, state...) for each value.
template <class Rule>
void over(const Place& place, const Rule& rule) {
  float* __restrict weight = place.weight;
  const float* __restrict gradient = place.gradient;
  float* __restrict first = place.state[0];
  float* __restrict second = place.state[1];
  for (std::int64_t i = 0; i < place.count; ++i) {
    if constexpr (std::is_invocable_v<Rule, float, float>)
      weight[i] = rule(weight[i], gradient[i]);
    else if constexpr (std::is_invocable_v<Rule, float, float, float&>)
      weight[i] = rule(weight[i], gradient[i], first[i]);
    else
      weight[i] = rule(weight[i], gradient[i], first[i], second[i]);
  }
}

class EachParameter : public Stepper {
 public:
  // At most two kinds of state.
  EachParameter(NamedParameters parameters, const Names& kinds)
      : parameters_(std::move(parameters)), kinds_(kinds) {
    for (const auto& [name, parameter] : parameters_) {
      if (parameter.scalar_type() != torch::kFloat || !parameter.is_contiguous())
        throw Error(Fault::usage, fmt::format("parameter {} is not of contiguous floats", name));
      for (std::size_t kind = 0; kind < kinds_.size(); ++kind)
        states_.push_back(
            torch::zeros_like(parameter, torch::TensorOptions().requires_grad(false)));
    }
  }

  void step(double rate) override {
    const torch::NoGradGuard no_grad;
    ++steps;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const torch::Tensor& parameter = parameters_[i].second;
      if (!parameter.grad().defined()) continue;
      const torch::Tensor gradient = parameter.grad().contiguous();
      Place place = {.count = parameter.numel(),
                     .weight = parameter.data_ptr<float>(),
                     .gradient = gradient.data_ptr<float>(),
                     .dimensions = parameter.dim()};
      for (std::size_t kind = 0; kind < kinds_.size(); ++kind)
        place.state[kind] = states_[i * kinds_.size() + kind].data_ptr<float>();
      update(place, rate);
      parameter.unsafeGetTensorImpl()->bump_version();
    }
  }

  std::vector<std::pair<std::string, torch::Tensor>> state() override {
    std::vector<std::pair<std::string, torch::Tensor>> named;
    for (std::size_t i = 0; i < states_.size(); ++i)
      named.emplace_back(kinds_[i % kinds_.size()] + "/" + parameters_[i / kinds_.size()].first,
                         states_[i]);
    return named;
  }

 private:
  virtual void update(const Place& place, double rate) = 0;

  NamedParameters parameters_;
  Names kinds_;
  std::vector<torch::Tensor> states_;  // the kinds of the first parameter, of the second ...
};

Names momentum_if_any(const Optimiser& optimiser, Names others) {
  if (optimiser.momentum != 0) others.emplace_back("momentum");
  return others;
}

class Sgd : public EachParameter {
 public:
  Sgd(const Optimiser& optimiser, NamedParameters parameters)
      : EachParameter(std::move(parameters), momentum_if_any(optimiser, {})),
        momentum_(static_cast<float>(optimiser.momentum)),
        weight_decay_(static_cast<float>(optimiser.weight_decay)),
        nesterov_(optimiser.nesterov) {}

 private:
  void update(const Place& place, double exact_rate) override {
    const auto rate = static_cast<float>(exact_rate);
    const float m = momentum_;
    const float decay = weight_decay_;
    if (m == 0) {
      over(place, [=](float w, float g) { return w - rate * (g + decay * w); });
    } else if (nesterov_) {
      over(place, [=](float w, float g, float& v) {
        const float slope = g + decay * w;
        v = m * v + slope;
        return w - rate * (slope + m * v);
      });
    } else {
      over(place, [=](float w, float g, float& v) {
        v = m * v + (g + decay * w);
        return w - rate * v;
      });
    }
  }

  float momentum_;
  float weight_decay_;
  bool nesterov_;
};

class RmsProp : public EachParameter {
 public:
  RmsProp(const Optimiser& optimiser, NamedParameters parameters)
      : EachParameter(std::move(parameters), momentum_if_any(optimiser, {"square"})),
        settings_(optimiser) {}

 private:
  void update(const Place& place, double exact_rate) override {
    const auto rate = static_cast<float>(exact_rate);
    const auto keep = static_cast<float>(settings_.decay);
    const auto take = static_cast<float>(1 - settings_.decay);
    const auto epsilon = static_cast<float>(settings_.epsilon);
    const auto decay = static_cast<float>(settings_.weight_decay);
    const auto m = static_cast<float>(settings_.momentum);
    if (m == 0) {
      over(place, [=](float w, float g, float& square) {
        const float slope = g + decay * w;
        square = keep * square + take * slope * slope;
        return w - rate * slope / (std::sqrt(square) + epsilon);
      });
    } else {
      over(place, [=](float w, float g, float& square, float& v) {
        const float slope = g + decay * w;
        square = keep * square + take * slope * slope;
        v = m * v + slope / (std::sqrt(square) + epsilon);
        return w - rate * v;
      });
    }
  }

  Optimiser settings_;
};

class Adam : public EachParameter {
 public:
  Adam(const Optimiser& optimiser, NamedParameters parameters)
      : EachParameter(std::move(parameters), {"mean", "square"}), settings_(optimiser) {}

 private:
  void update(const Place& place, double exact_rate) override {
    const auto count = static_cast<double>(steps);
    const auto rate = static_cast<float>(exact_rate / (1 - std::pow(settings_.decay, count)));
    const auto scale = static_cast<float>(1 / std::sqrt(1 - std::pow(settings_.decay2, count)));
    const auto keep = static_cast<float>(settings_.decay);
    const auto take = static_cast<float>(1 - settings_.decay);
    const auto keep2 = static_cast<float>(settings_.decay2);
    const auto take2 = static_cast<float>(1 - settings_.decay2);
    const auto epsilon = static_cast<float>(settings_.epsilon);
    const auto decay = static_cast<float>(settings_.weight_decay);
    over(place, [=](float w, float g, float& mean, float& square) {
      const float slope = g + decay * w;
      mean = keep * mean + take * slope;
      square = keep2 * square + take2 * slope * slope;
      return w - rate * mean / (std::sqrt(square) * scale + epsilon);
    });
  }

  Optimiser settings_;
};

// In a fixed order of additions, which a compiler can make in vectors.
double norm(const float* values, std::int64_t count) {
  constexpr std::int64_t kLanes = 8;
  std::array<double, kLanes> sums = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      sums[static_cast<std::size_t>(lane)] += value * value;
    }
  for (; i < count; ++i) sums[0] += static_cast<double>(values[i]) * values[i];
  double total = 0;
  for (const double sum : sums) total += sum;
  return std::sqrt(total);
}

class Lars : public EachParameter {
 public:
  Lars(const Optimiser& optimiser, NamedParameters parameters)
      : EachParameter(std::move(parameters), {"momentum"}), settings_(optimiser) {}

 private:
  void update(const Place& place, double rate) override {
    const bool adapts = place.dimensions > 1;
    const auto local = static_cast<float>(adapts ? rate * trust(place) : rate);
    const auto decay = static_cast<float>(adapts ? settings_.weight_decay : 0);
    const auto m = static_cast<float>(settings_.momentum);
    if (settings_.nesterov) {
      over(place, [=](float w, float g, float& v) {
        const float move = local * (g + decay * w);
        v = m * v + move;
        return w - (move + m * v);
      });
    } else {
      over(place, [=](float w, float g, float& v) {
        v = m * v + local * (g + decay * w);
        return w - v;
      });
    }
  }

  double trust(const Place& place) const {
    const double weight = norm(place.weight, place.count);
    const double gradient = norm(place.gradient, place.count);
    // A tensor that starts as zeros would never leave them.
    if (weight == 0 || gradient == 0) return 1;
    return settings_.trust * weight /
           (gradient + settings_.weight_decay * weight + settings_.epsilon);
  }

  Optimiser settings_;
};

template <class Made>
std::unique_ptr<Stepper> make(const Optimiser& optimiser, NamedParameters parameters) {
  return std::make_unique<Made>(optimiser, std::move(parameters));
}

struct Row {
  std::string_view name;
  bool momentum;
  bool nesterov;
  std::unique_ptr<Stepper> (*make)(const Optimiser& optimiser, NamedParameters parameters);
};

constexpr Row kRows[] = {{"sgd", true, true, make<Sgd>},
                         {"rmsprop", true, false, make<RmsProp>},
                         {"adam", false, false, make<Adam>},
                         {"lars", true, true, make<Lars>}};

void check(const Row& row, const Optimiser& optimiser) {
  if (optimiser.momentum != 0 && !row.momentum)
    throw Error(Fault::usage, fmt::format("{} has no momentum", row.name));
  if (optimiser.nesterov && !row.nesterov)
    throw Error(Fault::usage, fmt::format("{} has no nesterov", row.name));
  require(!optimiser.nesterov || optimiser.momentum > 0, Fault::usage, "nesterov needs momentum");
}

}  // namespace

std::unique_ptr<Stepper> make_stepper(const Optimiser& optimiser, NamedParameters parameters) {
  const auto* row = std::ranges::find(kRows, optimiser.name, &Row::name);
  if (row == std::end(kRows))
    throw Error(Fault::usage, fmt::format("no optimiser '{}': there are sgd, rmsprop, adam, lars",
                                          optimiser.name));
  check(*row, optimiser);
  return row->make(optimiser, std::move(parameters));
}

}  // namespace narrowcast
