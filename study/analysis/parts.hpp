#pragma once

#include <span>
#include <vector>

#include "study/analysis/grouping.hpp"

// What an analysis consists of; each part is one file and rests on those before it.
namespace narrowcast {

std::vector<Accuracy> accuracy_of(const Neighbourhood& all, double tolerance);
std::vector<Anova> anova_of(const Neighbourhood& all);
std::vector<Speed> speed_of(const Neighbourhood& all);

// Sets Speed::superseded: of kind "train" where cells of kind "speed" time steps of any codec in the same place.
void find_superseded(const Neighbourhood& all, std::vector<Speed>& speed);
// The others: those that say how long steps take.
std::vector<const Speed*> timings_of(std::span<const Speed> speed);
// Groups of kind "train" whose errors hold for steps that `timing` times: one for each network, data set,
// way and settings, of the same transport and link where there is one.
std::vector<std::size_t> curves_for(const Neighbourhood& all, std::size_t timing);

std::vector<TimeToError> times_of(const Neighbourhood& all, std::span<const Speed> speed,
                                  double tolerance);
// Of speed, accuracy and times.
StudyAnswer answer_of(const Neighbourhood& all, const Analysis& found);
PredictionCheck prediction_of(const Neighbourhood& all, std::span<const Speed> speed);
std::vector<EpochCost> cost_of(const Neighbourhood& all, std::span<const Speed> speed);

}  // namespace narrowcast
