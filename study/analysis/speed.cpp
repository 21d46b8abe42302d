#include "study/analysis/contrast.hpp"
#include "study/analysis/parts.hpp"

namespace narrowcast {

std::vector<Speed> speed_of(const Neighbourhood& all) {
  std::vector<Speed> speed;
  for (std::size_t group = 0; group < all.groups().size(); ++group) {
    const std::string& kind = all[group].cell.kind;
    if (kind != "speed" && kind != "train" && kind != "predict") continue;
    const Timing own = timing_of(all[group]);
    Speed found{.group = group,
                .baseline = all.baseline_of(group),
                .source = kind == "predict" ? Source::predicted : Source::measured,
                .step_ms = own.mean};
    found.images_per_s = estimate(values_of(values_by_seed(all[group].quiet, "images_per_s")));
    if (found.baseline) found.gain = gain_of(all[group], all[*found.baseline]);
    speed.push_back(found);
  }
  // What stands nowhere in a report must not count against what does.
  find_superseded(all, speed);
  std::vector<Contrast*> list;
  for (Speed& each : speed) {
    if (each.superseded) each.gain.reset();
    if (each.gain) list.push_back(&*each.gain);
  }
  correct(list);
  for (Contrast* each : list) each->judgement = judge_gain(*each);
  return speed;
}

}  // namespace narrowcast
