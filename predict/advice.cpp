#include "predict/advice.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "codec/codec.hpp"
#include "codec/distortion.hpp"
#include "codec/samples.hpp"

namespace narrowcast {
namespace {

constexpr std::array<std::size_t, 4> kFusions{std::size_t{1} << 20, std::size_t{4} << 20,
                                              std::size_t{16} << 20, std::size_t{64} << 20};
// Where a profile has one speed for all codecs.
constexpr std::array<std::string_view, 4> kUsual{"fp16", "dynamic8", "qsgd:bits=4",
                                                 "onebit:column=512"};
constexpr double kSurelyQuicker = 0.85;
// A tensor stays in fp32 if that makes the step no longer than so.
constexpr double kHardlyLonger = 1.002;

class Adviser {
 public:
  Adviser(const Profile& profile, const Wish& wish) : profile_(profile), wish_(wish) {
    scenario_.work = workload_of(profile, wish.model, wish.batch);
    scenario_.workers = wish.workers;
    scenario_.machine_workers = profile.machine_workers;
  }

  Advice advise() {
    require(wish_.workers >= 2, Fault::usage, "one worker has nobody to send gradients to");
    Advice advice;
    advice.plain = quickest("fp32");
    advice.all.push_back(advice.plain);
    for (const std::string& codec : codecs()) {
      Candidate candidate = quickest(codec);
      if (candidate.error <= wish_.max_error) advice.all.push_back(std::move(candidate));
    }
    std::ranges::stable_sort(advice.all, {}, [](const Candidate& c) { return c.forecast.step; });
    advice.best = advice.plain;
    const auto narrow =
        std::ranges::find_if(advice.all, [](const Candidate& c) { return c.codec != "fp32"; });
    if (narrow != advice.all.end()) weigh(*narrow, advice);
    const Scenario best = with(advice.best.plan);
    advice.dominant = dominant_term(best, loads_of(best, profile_), profile_);
    return advice;
  }

 private:
  std::vector<std::string> codecs() const {
    std::vector<std::string> names;
    // Each once, also where a profile has some of the usual ones beside "*".
    const auto add = [&](std::string_view name) {
      if (name != "fp32" && std::ranges::find(names, name) == names.end()) names.emplace_back(name);
    };
    for (const std::string& name : wish_.codecs) add(name);
    if (!wish_.codecs.empty()) return names;
    for (const CodecSpeed& speed : profile_.codecs)
      if (speed.codec == "*")
        std::ranges::for_each(kUsual, add);
      else
        add(speed.codec);
    return names;
  }

  std::vector<std::string> algorithms() const {
    std::vector<std::string> names = {"direct", "ring"};
    if (profile_.machine_workers > 1 && wish_.workers > profile_.machine_workers)
      names.push_back("hierarchy");
    return names;
  }

  Scenario with(const Plan& plan) const {
    Scenario scenario = scenario_;
    scenario.plan = plan;
    return scenario;
  }

  // Over algorithms and sizes of fused buffers. The usual ones stay unless another is better by more
  // than a prediction is sure of: what each buffer costs beside its bytes is the least known.
  Candidate quickest(const std::string& codec) const {
    Candidate best{.codec = codec, .error = rounding_error(codec)};
    const Plan usual = plan_for(usual_way(codec));
    best.plan = usual;
    best.forecast = forecast(with(usual), profile_);
    const double usual_step = best.forecast.step;
    for (const std::string& algorithm : algorithms())
      for (const std::size_t fusion : kFusions) {
        Plan plan = usual;
        plan.algorithm = algorithm;
        plan.fusion_bytes = fusion;
        if (algorithm == "hierarchy") plan.group = profile_.machine_workers;
        const Forecast other = forecast(with(plan), profile_);
        if (other.step < std::min(kSurelyQuicker * usual_step, best.forecast.step)) {
          best.plan = plan;
          best.forecast = other;
        }
      }
    return best;
  }

  void weigh(const Candidate& narrow, Advice& advice) const {
    advice.narrow = narrow;
    const Scenario few = with(narrow.plan);
    const Scenario many = with(advice.plain.plan);
    advice.gain = gain_of(few, many, profile_);
    TrafficBook book;
    advice.flips_at = break_even({few, many}, profile_, book, kWorthwhileGain);
    if (advice.gain.times < kWorthwhileGain || advice.gain.low <= 1) return;
    advice.verdict = Verdict::compress;
    advice.best = narrow;
    spare(advice);
  }

  // What hides behind computing anyway need not be rounded: large tensors first, as they come.
  void spare(Advice& advice) const {
    Candidate& best = advice.best;
    const double limit = kHardlyLonger * best.forecast.step;
    for (const MeasuredTensor& tensor : scenario_.work.tensors) {
      if (tensor.elements < best.plan.min_elements) continue;
      Plan plan = best.plan;
      plan.rules.insert(plan.rules.begin(), {.pattern = tensor.name, .way = {}});
      const Forecast other = forecast(with(plan), profile_);
      if (other.step > limit) continue;
      best.plan = plan;
      best.forecast = other;
      advice.kept.push_back(tensor.name);
    }
  }

  const Profile& profile_;
  const Wish& wish_;
  Scenario scenario_;
};

}  // namespace

double rounding_error(const std::string& codec) {
  constexpr std::size_t kValues = std::size_t{1} << 14;
  std::vector<float> exact(kValues);
  distribution("normal").draw({.key = 1}, 0, exact);
  const std::unique_ptr<Codec> made = make_codec(codec);
  std::vector<std::byte> wire(made->max_bytes(kValues));
  std::vector<float> decoded(kValues);
  const std::size_t length = made->encode(exact, wire, {});
  made->decode(Bytes(wire).first(length), decoded);
  Distortion distortion;
  distortion.add(exact, decoded);
  return std::pow(10, -distortion.signal_to_noise_db() / 20);
}

Advice advise(const Profile& profile, const Wish& wish) { return Adviser(profile, wish).advise(); }

}  // namespace narrowcast
