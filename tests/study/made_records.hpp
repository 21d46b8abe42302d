#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "study/analysis.hpp"

// Records whose truth is known, because nobody measured them.
namespace narrowcast::test {

using Records = std::vector<CellRecord>;

// As studies have it: the codec's name among the settings, too.
CellRecord made_record(std::string kind, std::string_view codec, int seed);

// Errors after each epoch; 100 steps of an epoch, each 10 ms.
CellRecord trained(std::string_view codec, int seed, std::vector<double> errors);
// The same, once for each of these last errors: seeds 1, 2, ...; one epoch.
void add_trained(Records& records, std::string_view codec, const std::vector<double>& errors);

// Steps on a link of their own, so that their times are those of no training.
CellRecord timed(std::string_view codec, int seed, double step_ms);
void add_timed(Records& records, std::string_view codec, const std::vector<double>& steps);

// Of data set "mnist", five seeds: "good" is two times as quick as "fp32" and as accurate, "crude" quicker but worse,
// "slow" as accurate but slower.
Records three_codecs();

// Of profile "here" on the same link.
CellRecord predicted(std::string_view codec, double step_ms, std::pair<double, double> bounds);

Study study_with(double tolerance);

// Facts about the group of this kind and variant; a failed test when there is none.
const CellGroup& group_of(const Analysis& found, std::string_view kind, std::string_view variant);
const Accuracy& accuracy_of(const Analysis& found, std::string_view variant);
const Speed& speed_of(const Analysis& found, std::string_view kind, std::string_view variant);
const TimeToError& time_of(const Analysis& found, std::string_view kind, std::string_view codec);
const StudySetting& setting_on(const Analysis& found, std::string_view link);

}  // namespace narrowcast::test
