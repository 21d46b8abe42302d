#include <algorithm>
#include <array>

#include "study/analysis/contrast.hpp"
#include "study/analysis/parts.hpp"
#include "study/kinds/words.hpp"

namespace narrowcast {
namespace {

constexpr std::string_view kLast = "last_error";
constexpr std::string_view kBest = "best_error";

std::size_t pairs_across(const CellGroup& group, const CellGroup& baseline) {
  std::map<std::string_view, std::string> machines;
  for (const CellRecord* record : baseline.done)
    if (record->value(kLast)) machines[record->cell.at("seed")] = machine_of(*record);
  return static_cast<std::size_t>(std::ranges::count_if(group.done, [&](const CellRecord* record) {
    const auto other = machines.find(record->cell.at("seed"));
    return record->value(kLast) && other != machines.end() && other->second != machine_of(*record);
  }));
}

Accuracy errors_of(const Neighbourhood& all, std::size_t group) {
  const CellGroup& own = all[group];
  Accuracy found{.group = group, .baseline = all.baseline_of(group)};
  const BySeed last = values_by_seed(own.done, kLast);
  const BySeed best = values_by_seed(own.done, kBest);
  found.last = estimate(values_of(last));
  found.best = estimate(values_of(best));
  found.failed = own.failed;
  found.unknown = seeds_without_error(own) - own.failed;
  if (found.baseline) {
    const CellGroup& other = all[*found.baseline];
    found.last_contrast = paired_errors(last, values_by_seed(other.done, kLast));
    found.best_contrast = paired_errors(best, values_by_seed(other.done, kBest));
    found.last_contrast->identical = found.best_contrast->identical = end_alike(own, other);
    found.across = pairs_across(own, other);
  }
  return found;
}

void judge(const Neighbourhood& all, std::vector<Accuracy>& accuracy,
           std::optional<Contrast> Accuracy::*contrast, double tolerance) {
  std::vector<Contrast*> list;
  for (Accuracy& each : accuracy)
    if (each.*contrast) list.push_back(&*(each.*contrast));
  correct(list);
  for (Accuracy& each : accuracy) {
    if (!(each.*contrast)) continue;
    Contrast& own = *(each.*contrast);
    own.judgement = judge_error(own, tolerance,
                                {.own = seeds_without_error(all[each.group]),
                                 .baseline = seeds_without_error(all[*each.baseline])});
  }
}

// The types of D16; options of theirs do not matter.
bool is_of_d16(const Cell& cell) {
  constexpr std::array<std::string_view, 4> kTypes{"dynamic8", "linear8", "mantissa8", "static8"};
  const std::string codec = setting_or(cell, "codec", cell.at("codec"));
  return chosen(cell, "plan").empty() &&
         std::ranges::find(kTypes, codec.substr(0, codec.find(':'))) != kTypes.end();
}

Anova anova_over(const Neighbourhood& all, std::span<const std::size_t> groups) {
  Anova found{.surroundings = surroundings_of(all[groups.front()].cell)};
  std::vector<std::vector<double>> last;
  std::vector<std::vector<double>> best;
  for (const std::size_t group : groups) {
    found.codecs.push_back(variant_of(all[group].cell));
    last.push_back(values_of(values_by_seed(all[group].done, kLast)));
    best.push_back(values_of(values_by_seed(all[group].done, kBest)));
  }
  found.last = analyse_variance(last);
  found.best = analyse_variance(best);
  return found;
}

}  // namespace

std::vector<Accuracy> accuracy_of(const Neighbourhood& all, double tolerance) {
  std::vector<Accuracy> accuracy;
  for (std::size_t group = 0; group < all.groups().size(); ++group)
    if (all[group].cell.kind == "train") accuracy.push_back(errors_of(all, group));
  judge(all, accuracy, &Accuracy::last_contrast, tolerance);
  judge(all, accuracy, &Accuracy::best_contrast, tolerance);
  return accuracy;
}

std::vector<Anova> anova_of(const Neighbourhood& all) {
  std::vector<Anova> found;
  for (const auto& street : all.streets()) {
    if (all[street.front()].cell.kind != "train" || street.size() < 2) continue;
    found.push_back(anova_over(all, street));
    std::vector<std::size_t> narrow;
    for (const std::size_t group : street)
      if (is_of_d16(all[group].cell) ||
          (all.is_baseline(group) && chosen(all[group].cell, "plan").empty()))
        narrow.push_back(group);
    if (narrow.size() >= 3 && narrow.size() < street.size())
      found.push_back(anova_over(all, narrow));
  }
  return found;
}

}  // namespace narrowcast
