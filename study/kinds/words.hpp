#pragma once

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "run/run.hpp"
#include "study/kinds/kind.hpp"

// What kinds share: from a cell to words, and from what was printed to numbers.
namespace narrowcast {

// Settings of a study's part that say how cells are started, not what a run is.
inline constexpr std::string_view kLauncher = "launcher";
inline constexpr std::string_view kHosts = "hosts";
bool is_run_setting(std::string_view key);

// Of kinds that train: their axes, and any setting of a run.
inline constexpr std::array kRunAxes{KindAxis{"net", "mnist-mlp"}, KindAxis{"data", "-"},
                                     KindAxis{"parallel", "data"}, KindAxis{"workers", "2"},
                                     KindAxis{"transport", "shm"}, KindAxis{"link", "none"},
                                     KindAxis{"codec", "fp32"},    KindAxis{"plan", "-"},
                                     KindAxis{"batch", "-"},       KindAxis{"seed", "1"}};
inline constexpr std::array<std::string_view, 1> kRunSettings{"*"};

// All that decides what a training run does.
std::vector<Setting> run_settings(const Cell& cell);
// The same for the command line.
std::vector<std::string> run_words(const Cell& cell);

// The command that trains so, with more words.
CellCommand train_command(const Cell& cell, std::initializer_list<std::string_view> more);
// Of a line that a run printed. Fault::wire unless it has one.
const std::string& event_of(const JsonTree& line);

// Fault::wire unless as many ran as the cell says: launchers know how many they start, whatever the axis says.
void check_workers(double ran, const Cell& cell);
// What the run's first line says of it, with that check.
void take_config(const JsonTree& line, CellRecord& record);

// How many ranks, by what and over which link; goes with the launcher.
std::vector<std::string> rank_words(const Cell& cell);
// The words of the setting "launcher", with {workers} and {link} filled in.
std::vector<std::string> launcher_of(const Cell& cell);
void check_ranks(const Cell& cell);
// The run that a cell is. Fault::usage for one that cannot be a cell among others, or that its network cannot make.
Run checked_run(const Cell& cell);

// "none" and what is not there are empty.
std::string_view chosen(const Cell& cell, std::string_view axis);
// Fault::usage for what is no whole number from 1 to a million.
int count_at(const Cell& cell, std::string_view axis);
void check_seed(const Cell& cell);
// Of kinds that have no such axis: two.
int workers_of(const Cell& cell);
std::string setting_or(const Cell& cell, std::string_view key, std::string_view usual);

// Of kinds that take a codec and nothing else. Fault::usage for a name that stands for more.
std::string codec_spec(const Cell& cell);

// Each line of JSON Lines. Fault::wire for what is none, and when there is none.
std::vector<JsonTree> lines_of(const std::string& printed);
double number_in(const JsonTree& object, std::string_view key);  // Fault::wire unless there is one
// Takes the numbers and texts of an object, whatever they are called.
CellRow row_of_object(const JsonTree& object);
// Copies those that are there.
void take_numbers(const JsonTree& object, std::span<const std::string_view> keys, CellRecord& to);

}  // namespace narrowcast
