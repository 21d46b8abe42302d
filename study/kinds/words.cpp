#include "study/kinds/words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "base/error.hpp"
#include "plan/counts.hpp"
#include "plan/values.hpp"
#include "predict/models.hpp"
#include "transport/shaped.hpp"
#include "transport/shm.hpp"

namespace narrowcast {
namespace {

constexpr std::array<std::string_view, 3> kTransports{"shm", "gloo", "mpi"};
constexpr int kMostProcesses = 1024;  // that the program starts on one machine
// Settings of training that cells would share, or that nobody would look for.
constexpr std::array<std::string_view, 4> kOfOneRun{"checkpoint", "checkpoint_every", "resume",
                                                    "weights"};
constexpr std::array<std::string_view, 3> kOfConfig{"parameters", "steps_per_epoch", "batch"};

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

std::vector<std::string> split_blanks(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// That the program slows itself down to: a launcher that is told of the link makes it.
std::string_view own_shape(const Cell& cell) {
  const bool made = setting_or(cell, kLauncher, "").find("{link}") != std::string::npos;
  return made ? std::string_view() : chosen(cell, "link");
}

}  // namespace

bool is_run_setting(std::string_view key) { return key != kLauncher && key != kHosts; }

std::string_view chosen(const Cell& cell, std::string_view axis) {
  const std::string_view value = cell.at(axis);
  return value == "none" ? std::string_view() : value;
}

int count_at(const Cell& cell, std::string_view axis) {
  const auto number = whole_of(cell.at(axis));
  if (!number || *number < 1 || *number > 1'000'000)
    throw Error(Fault::usage, fmt::format("{} takes whole numbers from 1 to a million, not '{}'",
                                          axis, cell.at(axis)));
  return static_cast<int>(*number);
}

void check_seed(const Cell& cell) { parse_number(cell.at("seed"), "a seed: digits alone"); }

int workers_of(const Cell& cell) {
  return cell.at("workers").empty() ? 2 : count_at(cell, "workers");
}

std::string setting_or(const Cell& cell, std::string_view key, std::string_view usual) {
  const auto found = cell.settings.find(std::string(key));
  return found == cell.settings.end() ? std::string(usual) : found->second;
}

std::string codec_spec(const Cell& cell) {
  for (const auto& [key, value] : cell.settings)
    if (key == "scaling" || key.starts_with("plan."))
      throw Error(Fault::usage,
                  fmt::format("a part of kind {} takes a codec alone, and '{}' has '{}'", cell.kind,
                              cell.at("codec"), key));
  return setting_or(cell, "codec", "fp32");
}

std::vector<Setting> run_settings(const Cell& cell) {
  std::vector<Setting> settings;
  for (const std::string_view axis : {"net", "data", "parallel", "batch", "seed"})
    if (const std::string_view value = chosen(cell, axis); !value.empty())
      settings.push_back({std::string(axis), std::string(value), std::string(axis)});
  for (const auto& [key, value] : cell.settings)
    if (is_run_setting(key)) settings.push_back({key, value, key});
  return settings;
}

std::vector<std::string> run_words(const Cell& cell) {
  constexpr std::array<std::string_view, 10> kOptions{
      "net", "data", "parallel", "batch", "seed", "codec", "setup", "epochs", "steps", "plan"};
  std::vector<std::string> words;
  for (const Setting& setting : run_settings(cell)) {
    const bool has_option = std::ranges::find(kOptions, setting.key) != kOptions.end();
    words.push_back(has_option ? "--" + setting.key : "--set");
    words.push_back(has_option ? setting.value : setting.key + "=" + setting.value);
  }
  return words;
}

CellCommand train_command(const Cell& cell, std::initializer_list<std::string_view> more) {
  std::vector<std::string> words = {"train"};
  for (auto&& part : {run_words(cell), rank_words(cell)})
    words.insert(words.end(), part.begin(), part.end());
  words.insert(words.end(), more.begin(), more.end());
  return {.words = words, .launcher = launcher_of(cell)};
}

const std::string& event_of(const JsonTree& line) {
  const JsonTree* event = line.find("event");
  require(event != nullptr, Fault::wire, "it printed a line without \"event\"");
  return event->text;
}

void check_workers(double ran, const Cell& cell) {
  if (ran != workers_of(cell))
    throw Error(Fault::wire,
                fmt::format("{} workers ran, not {}: does the launcher make use of {{workers}}?",
                            ran, workers_of(cell)));
}

void take_config(const JsonTree& line, CellRecord& record) {
  check_workers(number_in(line, "workers"), record.cell);
  take_numbers(line, kOfConfig, record);
}

std::vector<std::string> launcher_of(const Cell& cell) {
  std::vector<std::string> words = split_blanks(setting_or(cell, kLauncher, ""));
  if (words.empty() && chosen(cell, "transport") == "mpi") words = {"mpirun", "-n", "{workers}"};
  for (std::string& word : words) {
    replace_all(word, "{workers}", cell.at("workers"));
    replace_all(word, "{link}", cell.at("link"));
  }
  return words;
}

std::vector<std::string> rank_words(const Cell& cell) {
  std::vector<std::string> words;
  if (const std::string hosts = setting_or(cell, kHosts, ""); !hosts.empty())
    words = {"--hosts", hosts};
  else if (launcher_of(cell).empty())
    words = {"--workers", std::string(cell.at("workers")), "--transport",
             std::string(cell.at("transport"))};
  if (const std::string_view link = own_shape(cell); !link.empty()) {
    words.emplace_back("--shape");
    words.emplace_back(link);
  }
  return words;
}

void check_ranks(const Cell& cell) {
  const int workers = count_at(cell, "workers");
  const std::string_view transport = cell.at("transport");
  const bool launched = !setting_or(cell, kLauncher, "").empty();
  if (!launched && std::ranges::find(kTransports, transport) == kTransports.end())
    throw Error(Fault::usage,
                fmt::format("transport is one of shm, gloo and mpi, not '{}'", transport));
  const bool here = launcher_of(cell).empty() && setting_or(cell, kHosts, "").empty();
  const int most = transport == "shm" ? kMostShmRanks : kMostProcesses;
  if (here && workers > most)
    throw Error(Fault::usage,
                fmt::format("workers takes 1 to {} over {}, not {}", most, transport, workers));
  if (const std::string_view link = own_shape(cell); !link.empty()) parse_shape(link);
}

Run checked_run(const Cell& cell) {
  for (const std::string_view key : kOfOneRun)
    if (cell.settings.contains(std::string(key)))
      throw Error(
          Fault::usage,
          fmt::format("a cell starts anew and leaves its record alone: leave '{}' out", key));
  Run run = resolve_run(run_settings(cell));
  const auto row = std::ranges::find(models(), run.net, &ModelRow::name);
  if (run.parallel != Parallel::model || row == models().end()) return run;
  const Model model = row->make();
  const bool splits = std::ranges::all_of(model.layers, [](const ModelLayer& layer) {
    return layer.tensors.empty() || layer.inputs > 0;
  });
  if (!splits)
    throw Error(Fault::usage, fmt::format("{} has layers that parallel = \"model\" does not split: "
                                          "use \"hybrid\"",
                                          run.net));
  return run;
}

std::vector<JsonTree> lines_of(const std::string& printed) {
  std::vector<JsonTree> lines;
  std::istringstream in(printed);
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) lines.push_back(parse_json(line));
  require(!lines.empty(), Fault::wire, "it printed nothing");
  return lines;
}

double number_in(const JsonTree& object, std::string_view key) {
  const JsonTree* found = object.find(key);
  if (found == nullptr || (found->kind != JsonKind::whole && found->kind != JsonKind::real))
    throw Error(Fault::wire, fmt::format("it printed no number called \"{}\"", key));
  return found->number;
}

CellRow row_of_object(const JsonTree& object) {
  CellRow row;
  for (std::size_t i = 0; i < object.keys.size(); ++i) {
    const JsonTree& item = object.items[i];
    if (item.kind == JsonKind::text) row.texts[object.keys[i]] = item.text;
    if (item.kind == JsonKind::whole || item.kind == JsonKind::real)
      row.numbers[object.keys[i]] = item.number;
    // One level deeper: "published": {"mse": ...}.
    if (item.kind == JsonKind::object)
      for (std::size_t j = 0; j < item.keys.size(); ++j)
        if (item.items[j].kind == JsonKind::whole || item.items[j].kind == JsonKind::real)
          row.numbers[object.keys[i] + "_" + item.keys[j]] = item.items[j].number;
  }
  return row;
}

void take_numbers(const JsonTree& object, std::span<const std::string_view> keys, CellRecord& to) {
  for (const std::string_view key : keys)
    if (const JsonTree* found = object.find(key);
        found != nullptr && (found->kind == JsonKind::whole || found->kind == JsonKind::real))
      to.values[std::string(key)] = found->number;
}

}  // namespace narrowcast
