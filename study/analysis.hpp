#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/cell.hpp"
#include "study/statistics.hpp"
#include "study/study.hpp"

// What the records of a study say, in numbers: the report finds the words.
namespace narrowcast {

// Records that differ in their seed alone.
struct CellGroup {
  Cell cell = {};  // without its axis "seed"; with "machine" where times are of several
  // Into the records that were analysed, which must outlive this; one for each seed, in their order. Of
  // several records of one cell the last that is done counts, or else the last.
  std::vector<const CellRecord*> done = {};
  // Of these, those whose times count: others <= kBusy, or predicted from a profile that was not measured. All of one
  // machine: where processors or cores differ, times are not compared.
  std::vector<const CellRecord*> quiet = {};
  std::size_t failed = 0;

  std::string_view at(std::string_view axis) const;
  std::size_t busy() const { return done.size() - quiet.size(); }
};

// How its gradients travel: "dynamic8", "dynamic8 (fused)" with a plan, "hybrid" when the plan's rules say it
// all.
std::string variant_of(const Cell& cell);

// What may be said of a comparison. Of errors, better is a lower one; of times, better is quicker.
enum class Judgement {
  better,
  same,  // earned: the interval of the difference lies inside what counts as the same
  worse,
  unclear,  // no difference was found, nor is it shown that there is none: the interval says how much
  too_little  // fewer than two values, values that do not scatter where they should, or seeds without any
};
std::string_view name_of(Judgement judgement);

// A step that is less than 3 % quicker or slower counts as the same.
inline constexpr double kSameSpeed = 1.03;
// Below it, after Holm's correction, a difference was found.
inline constexpr double kSignificance = 1 - kConfidence;

// Of one group with another, its baseline.
struct Contrast {
  // Errors: this minus the baseline, in percentage points; `count` of pairs. Times: the baseline's over this,
  // so 2 is twice as quick; `count` of the smaller side.
  Estimate effect = {};
  std::optional<double> p = {};     // two-sided, of no difference
  std::optional<double> holm = {};  // corrected for all contrasts of its list
  bool identical = false;  // errors: all pairs of runs ended with the same weights, bit for bit
  Judgement judgement = Judgement::too_little;
};

// Test errors of a group of kind "train", in percent. Results have the same bits under any load, so busy
// records count.
struct Accuracy {
  std::size_t group = 0;                     // of Analysis::groups
  std::optional<std::size_t> baseline = {};  // none: nothing to compare with, or it is one itself
  Estimate last = {};                        // after the last epoch
  Estimate best = {};                        // of any epoch
  // Of the pairs, those of which the two runs are of different processors, whose sums may round differently.
  std::size_t across = 0;
  // Seeds that left no error: the run failed, or its error is no number. A side with any is never judged as
  // good as the other or better: those seeds may be the ones that went wrong. So a codec that has them is
  // worse or too little, and beside a baseline that has them it is better or too little.
  std::size_t failed = 0;
  std::size_t unknown = 0;
  // Paired by seed. Inside Study::tolerance is the same, as are equal weights; else what Holm leaves
  // significant is better or worse. Last and best are corrected each for itself. The answer rests on
  // last: it chooses no epoch.
  std::optional<Contrast> last_contrast = {};
  std::optional<Contrast> best_contrast = {};
};

// Whether the codec makes a difference at all, as D16 asked.
struct Anova {
  Cell surroundings = {};  // without axes "codec", "plan" and "seed", and without their settings
  // As variant_of has them: all that there are, and once more the types of D16 and the baseline where there
  // are others besides.
  std::vector<std::string> codecs = {};
  std::optional<Variance> last = {};
  std::optional<Variance> best = {};
};

enum class Source { measured, predicted };

// Steps of a group of kind "speed" or "train", measured, or "predict".
struct Speed {
  std::size_t group = 0;
  std::optional<std::size_t> baseline = {};
  Source source = Source::measured;
  // Over quiet repetitions. A prediction has the bounds that its record says, "low_ms" and "high_ms".
  Estimate step_ms = {};
  Estimate images_per_s = {};
  // On the logarithm. Measured: by Welch, of two repetitions and more on both sides. Predicted: from both
  // bounds, where what is off in computing is so on both sides, and without a p. Inside kSameSpeed is the
  // same; a difference is clear of 1 and, where there is a p, significant after Holm. None of a superseded one.
  std::optional<Contrast> gain = {};
  // Of kind "train", where cells of kind "speed" time steps in the same place, be it with another codec: equal axes but
  // for codec, plan and seed. One place has one kind of time, or it had two answers. Nobody sees these.
  bool superseded = false;
};

// How long until an error is reached that the baseline reaches with every seed. Gradients have the same
// bits on every transport and link, so a curve of kind "train" holds wherever net, workers, codec, plan and the settings
// that change what is learnt are the same, and data, parallel and batch where both say them. A run's own times serve
// unless they are superseded.
struct TimeToError {
  std::size_t curve = 0;   // the group of kind "train" that says after how many epochs
  std::size_t timing = 0;  // that says how long one takes: "speed", "predict", or curve itself
  Source source = Source::measured;
  // Percent: the worst over seeds of the baseline's best error, plus Study::tolerance.
  double target = 0;
  std::size_t seeds = 0;    // with a curve, or failed
  std::size_t reached = 0;  // of these, that came to the target: 0 is never
  // The first epoch whose error is at most the target; over the seeds that reached it.
  Estimate epochs = {};
  Estimate epoch_s = {};                 // steps_per_epoch * step_ms
  std::optional<Estimate> seconds = {};  // none unless every seed reached it
  // The baseline's seconds over these, on the logarithm, epochs paired by seed; only where every seed
  // reached the target. Judged as Speed::gain is; its p is that of the factor, epochs or steps, that makes it so. Without
  // a p and an interval, and so too little, where that factor does not scatter.
  std::optional<Contrast> gain = {};

  bool is_reached() const { return reached > 0 && reached == seeds; }
};

// Whether low precision pays in one setting: the same epochs in less time, an error that is no worse, and the
// baseline's error no later.
enum class Pays {
  yes,          // some codec is quicker and as accurate, or more so
  if_accurate,  // some codec is quicker; whether its error is the same was not measured or is not clear
  later,        // some codec is quicker, but comes to the baseline's error later, or never
  no,           // every codec was judged: not quicker, or not as accurate
  unclear,      // some codec was neither found to be quicker nor shown not to be
  unknown       // some codec's times are missing or too few
};
std::string_view name_of(Pays pays);

// One codec (and plan) in a setting.
struct Choice {
  std::size_t timing = 0;                  // of Analysis::groups
  std::optional<std::size_t> curve = {};   // as in TimeToError
  Contrast gain = {};                      // of steps, as in Speed
  std::optional<Judgement> accuracy = {};  // of the last error; none without a curve to compare
  std::optional<std::size_t> time =
      {};  // of Analysis::times; of several curves the one that says worst
  Pays pays = Pays::unknown;
};

struct StudySetting {
  Source source = Source::measured;
  // Of the timing's cell without codec, plan and seed; with "data" even if only its curves have it.
  Axes axes = {};
  Pays pays = Pays::unknown;
  std::vector<Choice> choices = {};  // all but the baseline
  // The quickest of those that make `pays` what it is, before it what comes to the baseline's error sooner; none when
  // none has a time.
  std::optional<std::size_t> best = {};  // of choices
};

struct Wins {
  std::string codec;  // as variant_of has it
  std::size_t settings = 0;
};

// Of settings of one source.
struct Tally {
  std::size_t settings = 0;
  std::size_t yes = 0;
  std::size_t if_accurate = 0;
  std::size_t later = 0;
  std::size_t no = 0;
  std::size_t unclear = 0;
  std::size_t unknown = 0;
  // Gains of the best choices where pays is yes.
  std::optional<double> median_gain = {};
  std::optional<double> largest_gain = {};
  std::vector<Wins> wins = {};  // where pays is yes; most first
  std::vector<Wins> sooner =
      {};  // where pays is no, and yet the best comes to the baseline's error sooner
};

// Does low precision improve end-to-end time with no accuracy loss, where, and by how much?
struct StudyAnswer {
  std::vector<StudySetting> settings = {};
  Tally measured = {};
  Tally predicted = {};
};

// A predict cell of profile "here" and the measured one that says the same.
struct Check {
  std::size_t predicted = 0;  // of Analysis::groups
  std::size_t measured = 0;   // kind "speed"
  double predicted_ms = 0;
  double measured_ms = 0;
  double relative_error = 0;  // predicted / measured - 1
  bool inside = false;        // the measured one lies in what was predicted as its bounds
};
struct PredictionCheck {
  std::vector<Check> checks = {};
  std::size_t inside = 0;
  // Of the relative errors without their signs; none without checks.
  std::optional<double> median = {};
  std::optional<double> worst = {};
};

// Of a predict cell with a price ("price" of a worker and hour), "images" (of an epoch) and "batch" (of a
// worker): axes, settings or values of its record.
struct EpochCost {
  std::size_t group = 0;
  double seconds = 0;  // of ceil(images / (batch * workers)) steps
  double price = 0;
  std::optional<double> over_baseline = {};  // its price as a part of the baseline's
};

struct Analysis {
  std::vector<CellGroup> groups = {};  // in the order of their first records
  std::vector<Accuracy> accuracy = {};
  std::vector<Anova> anova = {};
  std::vector<Speed> speed = {};
  std::vector<TimeToError> times = {};
  StudyAnswer answer = {};
  PredictionCheck prediction = {};
  std::vector<EpochCost> cost = {};
};

// The baseline of a group is that of the codec Study::baseline (not by rules of a plan) with equal kind, axes
// and settings, except axes "codec", "plan" and "seed" and settings "codec", "scaling", "feedback" and "plan.*",
// which say what names stand for; of these the one with the same plan, or else without any, or else the only
// one. `records` must outlive what is returned.
Analysis analyse(std::span<const CellRecord> records, const Study& study);

}  // namespace narrowcast
