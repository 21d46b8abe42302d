// Does low precision improve end-to-end time with no accuracy loss, where, and by how much?
#include <algorithm>
#include <set>

#include "study/analysis/parts.hpp"
#include "study/kinds/words.hpp"

namespace narrowcast {
namespace {

bool keeps_accuracy(std::optional<Judgement> accuracy) {
  return accuracy == Judgement::same || accuracy == Judgement::better;
}

Pays pays_of(Judgement gain, std::optional<Judgement> accuracy) {
  if (accuracy == Judgement::worse) return Pays::no;
  switch (gain) {
    case Judgement::better:
      return keeps_accuracy(accuracy) ? Pays::yes : Pays::if_accurate;
    case Judgement::same:
    case Judgement::worse:
      return Pays::no;
    case Judgement::unclear:
      return Pays::unclear;
    case Judgement::too_little:
      break;
  }
  return Pays::unknown;
}

// Of several judgements of one codec the most cautious counts.
int caution(Judgement judgement) {
  switch (judgement) {
    case Judgement::worse:
      return 4;
    case Judgement::too_little:
      return 3;
    case Judgement::unclear:
      return 2;
    case Judgement::same:
      return 1;
    case Judgement::better:
      break;
  }
  return 0;
}

class Answering {
 public:
  Answering(const Neighbourhood& all, std::span<const Speed> speed,
            std::span<const Accuracy> accuracy)
      : all_(all) {
    for (const Accuracy& each : accuracy) accuracy_[each.group] = &each;
    for (const Speed* each : timings_of(speed)) timings_[each->group] = each;
  }

  StudyAnswer answer() const {
    StudyAnswer answer;
    for (const auto& street : all_.streets()) {
      std::vector<const Speed*> timings;
      for (const std::size_t group : street)
        if (const auto found = timings_.find(group); found != timings_.end())
          timings.push_back(found->second);
      for (const std::string& data : data_sets(timings))
        if (auto setting = setting_of(timings, data); !setting.choices.empty())
          answer.settings.push_back(std::move(setting));
    }
    answer.measured = tally(answer.settings, Source::measured);
    answer.predicted = tally(answer.settings, Source::predicted);
    return answer;
  }

 private:
  // That the times or their curves are of; an empty one when nobody says.
  std::set<std::string> data_sets(std::span<const Speed* const> timings) const {
    std::set<std::string> names;
    for (const Speed* timing : timings) {
      if (const auto own = chosen(all_[timing->group].cell, "data"); !own.empty())
        names.emplace(own);
      else
        for (const std::size_t curve : curves_for(all_, timing->group))
          names.emplace(all_[curve].at("data"));
    }
    if (names.empty() && !timings.empty()) names.emplace();
    return names;
  }

  StudySetting setting_of(std::span<const Speed* const> timings, const std::string& data) const {
    StudySetting setting{.source = timings.front()->source,
                         .axes = all_[timings.front()->group].cell.axes};
    for (const std::string_view axis : {"codec", "plan"}) setting.axes.erase(std::string(axis));
    if (!data.empty()) setting.axes["data"] = data;
    for (const Speed* timing : timings)
      if (!all_.is_baseline(timing->group)) setting.choices.push_back(choice_of(*timing, data));
    decide(setting);
    return setting;
  }

  Choice choice_of(const Speed& timing, const std::string& data) const {
    Choice choice{.timing = timing.group};
    if (timing.gain) choice.gain = *timing.gain;
    for (const std::size_t curve : curves_for(all_, timing.group)) {
      if (!data.empty() && chosen(all_[curve].cell, "data") != data) continue;
      const Accuracy& found = *accuracy_.at(curve);
      if (!found.last_contrast) continue;
      const Judgement judgement = found.last_contrast->judgement;
      if (choice.accuracy && caution(*choice.accuracy) >= caution(judgement)) continue;
      choice.accuracy = judgement;
      choice.curve = curve;
    }
    choice.pays = pays_of(choice.gain.judgement, choice.accuracy);
    return choice;
  }

  static void decide(StudySetting& setting) {
    const auto any = [&](Pays pays) {
      return std::ranges::find(setting.choices, pays, &Choice::pays) != setting.choices.end();
    };
    setting.pays = Pays::no;
    for (const Pays pays : {Pays::unclear, Pays::unknown, Pays::if_accurate, Pays::yes})
      if (any(pays)) setting.pays = pays;
    for (std::size_t i = 0; i < setting.choices.size(); ++i)
      if (const Choice& choice = setting.choices[i];
          choice.pays == setting.pays && choice.gain.effect.count > 0 &&
          (!setting.best ||
           choice.gain.effect.mean > setting.choices[*setting.best].gain.effect.mean))
        setting.best = i;
  }

  Tally tally(std::span<const StudySetting> settings, Source source) const {
    Tally sum;
    std::vector<double> gains;
    for (const StudySetting& setting : settings) {
      if (setting.source != source) continue;
      ++sum.settings;
      sum.yes += setting.pays == Pays::yes;
      sum.if_accurate += setting.pays == Pays::if_accurate;
      sum.no += setting.pays == Pays::no;
      sum.unclear += setting.pays == Pays::unclear;
      sum.unknown += setting.pays == Pays::unknown;
      if (setting.pays != Pays::yes) continue;
      const Choice& best = setting.choices[*setting.best];
      gains.push_back(best.gain.effect.mean);
      count(variant_of(all_[best.timing].cell), sum.wins);
    }
    std::ranges::stable_sort(sum.wins, std::ranges::greater(), &Wins::settings);
    if (gains.empty()) return sum;
    sum.median_gain = median(gains);
    sum.largest_gain = std::ranges::max(gains);
    return sum;
  }

  static void count(const std::string& codec, std::vector<Wins>& wins) {
    const auto found = std::ranges::find(wins, codec, &Wins::codec);
    if (found == wins.end())
      wins.push_back({codec, 1});
    else
      ++found->settings;
  }

  const Neighbourhood& all_;
  std::map<std::size_t, const Accuracy*> accuracy_ = {};
  std::map<std::size_t, const Speed*> timings_ = {};
};

}  // namespace

StudyAnswer answer_of(const Neighbourhood& all, std::span<const Speed> speed,
                      std::span<const Accuracy> accuracy) {
  return Answering(all, speed, accuracy).answer();
}

}  // namespace narrowcast
