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

bool is_judged(const TimeToError* time, Judgement judgement) {
  return time != nullptr && time->gain && time->gain->judgement == judgement;
}

// Of a codec whose steps are quicker. An error that some seeds never reached is not the same, and one that no seed
// reached is reached later than any other; but of few runs, of which nothing is known, neither says much.
Pays pays_if_quicker(std::optional<Judgement> accuracy, const TimeToError* time) {
  if (is_judged(time, Judgement::worse)) return Pays::later;
  if (!keeps_accuracy(accuracy)) return Pays::if_accurate;
  if (time == nullptr || time->is_reached()) return Pays::yes;
  return time->reached == 0 ? Pays::later : Pays::if_accurate;
}

Pays pays_of(Judgement gain, std::optional<Judgement> accuracy, const TimeToError* time) {
  if (accuracy == Judgement::worse) return Pays::no;
  switch (gain) {
    case Judgement::better:
      return pays_if_quicker(accuracy, time);
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

// Of several judgements of one codec the most cautious counts; so it does of times.
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

int caution(const TimeToError& time) {
  if (time.reached == 0) return caution(Judgement::worse);
  return caution(time.gain ? time.gain->judgement : Judgement::too_little);
}

class Answering {
 public:
  Answering(const Neighbourhood& all, const Analysis& found) : all_(all), found_(found) {
    for (const Accuracy& each : found.accuracy) accuracy_[each.group] = &each;
    for (const Speed* each : timings_of(found.speed)) timings_[each->group] = each;
    for (std::size_t i = 0; i < found.times.size(); ++i)
      times_[{found.times[i].timing, found.times[i].curve}] = i;
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
      take_time(choice, curve);
      const Accuracy& found = *accuracy_.at(curve);
      if (!found.last_contrast) continue;
      const Judgement judgement = found.last_contrast->judgement;
      if (choice.accuracy && caution(*choice.accuracy) >= caution(judgement)) continue;
      choice.accuracy = judgement;
      choice.curve = curve;
    }
    choice.pays = pays_of(choice.gain.judgement, choice.accuracy, time_of(choice));
    return choice;
  }

  const TimeToError* time_of(const Choice& choice) const {
    return choice.time ? &found_.times[*choice.time] : nullptr;
  }

  void take_time(Choice& choice, std::size_t curve) const {
    const auto found = times_.find({choice.timing, curve});
    if (found == times_.end()) return;
    const TimeToError* known = time_of(choice);
    if (known == nullptr || caution(found_.times[found->second]) > caution(*known))
      choice.time = found->second;
  }

  bool is_sooner(const Choice& choice) const {
    return is_judged(time_of(choice), Judgement::better);
  }

  void decide(StudySetting& setting) const {
    const auto any = [&](Pays pays) {
      return std::ranges::find(setting.choices, pays, &Choice::pays) != setting.choices.end();
    };
    setting.pays = Pays::no;
    for (const Pays pays :
         {Pays::later, Pays::unclear, Pays::unknown, Pays::if_accurate, Pays::yes})
      if (any(pays)) setting.pays = pays;
    // Where steps do not pay, what comes to the error sooner all the same must not go unseen.
    const auto rank = [&](const Choice& choice) {
      return std::pair(setting.pays == Pays::no && is_sooner(choice), choice.gain.effect.mean);
    };
    for (std::size_t i = 0; i < setting.choices.size(); ++i)
      if (const Choice& choice = setting.choices[i];
          choice.pays == setting.pays && choice.gain.effect.count > 0 &&
          (!setting.best || rank(choice) > rank(setting.choices[*setting.best])))
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
      sum.later += setting.pays == Pays::later;
      sum.no += setting.pays == Pays::no;
      sum.unclear += setting.pays == Pays::unclear;
      sum.unknown += setting.pays == Pays::unknown;
      if (!setting.best) continue;
      const Choice& best = setting.choices[*setting.best];
      const std::string codec = variant_of(all_[best.timing].cell);
      if (setting.pays == Pays::no && is_sooner(best)) count(codec, sum.sooner);
      if (setting.pays != Pays::yes) continue;
      gains.push_back(best.gain.effect.mean);
      count(codec, sum.wins);
    }
    for (std::vector<Wins>* each : {&sum.wins, &sum.sooner})
      std::ranges::stable_sort(*each, std::ranges::greater(), &Wins::settings);
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
  const Analysis& found_;
  std::map<std::size_t, const Accuracy*> accuracy_ = {};
  std::map<std::size_t, const Speed*> timings_ = {};
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> times_ = {};  // by timing and curve
};

}  // namespace

StudyAnswer answer_of(const Neighbourhood& all, const Analysis& found) {
  return Answering(all, found).answer();
}

}  // namespace narrowcast
