#include "predict/forecast.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "predict/timeline/timeline.hpp"

namespace narrowcast {
namespace {

constexpr double kNineOfTen = 1.645;  // standard deviations to each side

struct Term {
  std::string_view name;
  double Slower::*factor;
};
constexpr std::array<Term, 6> kTerms{{{"compute", &Slower::compute},
                                      {"network", &Slower::network},
                                      {"machine", &Slower::machine},
                                      {"latency", &Slower::latency},
                                      {"codec", &Slower::codec},
                                      {"stragglers", &Slower::stragglers}}};

double step_after(const Pricing& pricing, const Term& term, double times) {
  Slower slower;
  slower.*term.factor = times;
  return timeline(pricing, slower).step;
}

Spread codec_spread(const Loads& loads, const Profile& profile) {
  Spread most = 0;
  std::string_view last;
  for (const Shipment& shipment : loads.shipments)
    for (const Cargo& cargo : shipment.cargo) {
      if (cargo.codec == last) continue;
      last = cargo.codec;
      most = std::max(most, speed_of(profile, cargo.codec).spread);
    }
  return most;
}

// In the order of kTerms.
std::array<Spread, 6> spreads_of(const Scenario& scenario, const Loads& loads,
                                 const Profile& profile) {
  return {scenario.work.spread,         profile.network.spread,
          profile.machine.spread,       std::max(profile.network.spread, profile.machine.spread),
          codec_spread(loads, profile), 0};
}

// By how much `change` of the terms, each as much slower as its spread says, adds up to. They are
// independent of each other: in squares.
template <class Change>
double deviation(const std::array<Spread, 6>& spreads, const Change& change) {
  double squares = 0;
  for (std::size_t i = 0; i < spreads.size(); ++i) {
    if (spreads[i] == 0) continue;
    const double by = change(kTerms[i], 1 + spreads[i]);
    squares += by * by;
  }
  return std::sqrt(squares);
}

}  // namespace

Forecast forecast(const Scenario& scenario, const Loads& loads, const Profile& profile) {
  const Pricing pricing = price(scenario, loads, profile);
  const Steps steps = timeline(pricing);
  const double off = kNineOfTen * deviation(spreads_of(scenario, loads, profile),
                                            [&](const Term& term, double times) {
                                              return step_after(pricing, term, times) - steps.step;
                                            });
  Forecast result{.step = steps.step,
                  .low = std::max(0.0, steps.step - off),
                  .high = steps.step + off,
                  .compute = scenario.work.compute_ms(),
                  .encode = steps.encode,
                  .wire = steps.wire,
                  .decode = steps.decode,
                  .wait = steps.waiting,
                  .slowdown = steps.slowdown,
                  .straggling = steps.straggling,
                  .bytes = loads.bytes};
  if (steps.alone > 0) result.overlap = std::clamp(1 - steps.waiting / steps.alone, 0.0, 1.0);
  return result;
}

Forecast forecast(const Scenario& scenario, const Profile& profile) {
  return forecast(scenario, loads_of(scenario, profile), profile);
}

std::string_view dominant_term(const Scenario& scenario, const Loads& loads,
                               const Profile& profile) {
  const Pricing pricing = price(scenario, loads, profile);
  return std::ranges::min(kTerms, {},
                          [&](const Term& term) { return step_after(pricing, term, 0); })
      .name;
}

Gain gain_of(const Scenario& narrow, const Scenario& wide, const Profile& profile) {
  const Loads loads = loads_of(narrow, profile);
  const Pricing few = price(narrow, loads, profile);
  const Pricing many = price(wide, loads_of(wide, profile), profile);
  Gain gain;
  gain.times = timeline(many).step / timeline(few).step;
  const double off =
      kNineOfTen *
      deviation(spreads_of(narrow, loads, profile), [&](const Term& term, double times) {
        return step_after(many, term, times) / step_after(few, term, times) - gain.times;
      });
  gain.low = gain.times - off;
  gain.high = gain.times + off;
  return gain;
}

double speedup(const Scenario& scenario, const Forecast& forecast) {
  return scenario.workers * scenario.work.compute_ms() / forecast.step;
}

double break_even(const Comparison& both, const Profile& profile, TrafficBook& book, double times) {
  const auto& [narrow, wide] = both;
  const Pricing few = price(narrow, loads_of(narrow, profile, book), profile);
  const Pricing many = price(wide, loads_of(wide, profile, book), profile);
  const bool across = narrow.workers > narrow.machine_workers;
  const Term& link = kTerms[across ? 1 : 2];
  const double now = across ? profile.network.bandwidth : profile.machine.bandwidth;
  const auto gains = [&](double log_bandwidth) {
    const double slower = now / std::pow(10, log_bandwidth);
    return times * step_after(few, link, slower) < step_after(many, link, slower);
  };
  constexpr double kSlowest = 3;    // 1 kB/s
  constexpr double kQuickest = 13;  // 10 TB/s
  if (!gains(kSlowest)) return 0;
  if (gains(kQuickest)) return std::numeric_limits<double>::infinity();
  double low = kSlowest;
  double high = kQuickest;
  while (high - low > 1e-4) {
    const double middle = (low + high) / 2;
    (gains(middle) ? low : high) = middle;
  }
  return std::pow(10, low);
}

}  // namespace narrowcast
