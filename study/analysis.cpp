#include "study/analysis.hpp"

#include "study/analysis/parts.hpp"

namespace narrowcast {

std::string_view name_of(Judgement judgement) {
  switch (judgement) {
    case Judgement::better:
      return "better";
    case Judgement::same:
      return "same";
    case Judgement::worse:
      return "worse";
    case Judgement::unclear:
      return "unclear";
    case Judgement::too_little:
      return "too little";
  }
  return "";
}

std::string_view name_of(Pays pays) {
  switch (pays) {
    case Pays::yes:
      return "yes";
    case Pays::if_accurate:
      return "if accurate";
    case Pays::later:
      return "later";
    case Pays::no:
      return "no";
    case Pays::unclear:
      return "unclear";
    case Pays::unknown:
      return "too little data";
  }
  return "";
}

Analysis analyse(std::span<const CellRecord> records, const Study& study) {
  Analysis found{.groups = by_machine(groups_of(records))};
  const Neighbourhood all(found.groups, study.baseline);
  found.accuracy = accuracy_of(all, study.tolerance);
  found.anova = anova_of(all);
  found.speed = speed_of(all);
  found.times = times_of(all, found.speed, study.tolerance);
  found.answer = answer_of(all, found);
  found.prediction = prediction_of(all, found.speed);
  found.cost = cost_of(all, found.speed);
  return found;
}

}  // namespace narrowcast
