#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <optional>
#include <thread>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/team.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/prediction.hpp"
#include "cli/table.hpp"
#include "study/prediction_page.hpp"

namespace narrowcast::cli {
namespace {

struct PredictWords {
  ScenarioWords scenario;
  std::string nets = "mnist-mlp";
  std::string profiles = "ethernet-10g";
  std::string batches = "0";
  std::string workers = "2..1024";
  std::string codecs = "fp32,dynamic8,qsgd:bits=4,onebit:column=512";
  std::string html;
  bool json = false;
};

struct Row {
  std::string codec;
  int workers = 0;
  Forecast forecast;
  double speedup = 1;
  double over_fp32 = 1;
  // Of the most workers only: it takes as long as thirty predictions.
  std::optional<double> break_even = {};
};

JsonValue number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? JsonValue(*value) : JsonValue(nullptr);
}

// One network in one batch on one system.
struct Case {
  const Profile* profile = nullptr;
  Scenario scenario;
  std::vector<Row> rows = {};  // by workers, then by codec
};

void find_break_even(const PredictWords& words, Case& one, TrafficBook& book) {
  Scenario narrow = one.scenario;  // of the most workers
  Scenario wide = narrow;
  wide.plan = plan_of(words.scenario, "fp32");
  for (Row& row : one.rows) {
    if (row.workers != narrow.workers || row.codec == "fp32" || row.workers == 1) continue;
    narrow.plan = plan_of(words.scenario, row.codec);
    row.break_even = break_even({narrow, wide}, *one.profile, book);
  }
}

void predict_case(const PredictWords& words, Case& one, TrafficBook& book) {
  const auto ask = [&](const std::string& codec) {
    one.scenario.plan = plan_of(words.scenario, codec);
    return forecast(one.scenario, loads_of(one.scenario, *one.profile, book), *one.profile);
  };
  for (const int workers : counts_of(words.workers)) {
    one.scenario.workers = workers;
    const double plain = ask("fp32").step;
    for (const std::string& codec : list_of(words.codecs)) {
      const Forecast found = ask(codec);
      one.rows.push_back({codec, workers, found, speedup(one.scenario, found), plain / found.step});
    }
  }
  find_break_even(words, one, book);
}

std::vector<Case> cases_of(const PredictWords& words, const std::vector<Profile>& profiles) {
  std::vector<Case> cases;
  for (const std::string& net : list_of(words.nets))
    for (const Profile& profile : profiles)
      for (const int batch : batches_of(words.batches)) {
        ScenarioWords one = words.scenario;
        one.net = net;
        one.batch = batch;
        cases.push_back({&profile, scenario_of(one, profile)});
      }
  return cases;
}

// On all cores: a sweep may have a hundred thousand rows.
void predict_all(const PredictWords& words, std::vector<Case>& cases) {
  Team team(static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  std::vector<TrafficBook> books(static_cast<std::size_t>(team.size()));
  std::atomic<std::size_t> next = 0;
  team.run([&](int member) {
    for (std::size_t i = next++; i < cases.size(); i = next++)
      predict_case(words, cases[i], books[static_cast<std::size_t>(member)]);
  });
}

void print_json(const Case& one, const Console& console) {
  for (const Row& row : one.rows)
    console.out << json_line({{"network", one.scenario.work.name},
                              {"profile", one.profile->name},
                              {"workers", row.workers},
                              {"batch", one.scenario.work.batch},
                              {"codec", row.codec},
                              {"step_ms", row.forecast.step},
                              {"low_ms", row.forecast.low},
                              {"high_ms", row.forecast.high},
                              {"compute_ms", row.forecast.compute},
                              {"encode_ms", row.forecast.encode},
                              {"wire_ms", row.forecast.wire},
                              {"decode_ms", row.forecast.decode},
                              {"wait_ms", row.forecast.wait},
                              {"straggling_ms", row.forecast.straggling},
                              {"slowdown_ms", row.forecast.slowdown},
                              {"overlap", row.forecast.overlap},
                              {"wire_bytes", row.forecast.bytes},
                              {"speedup", row.speedup},
                              {"efficiency", row.speedup / row.workers},
                              {"over_fp32", row.over_fp32},
                              {"break_even_bytes_per_s", number(row.break_even)},
                              {"price", number(price_of_worker(*one.profile))}});
}

void print_break_even(const Case& one, const Console& console) {
  console.out << fmt::format("\nOn {} workers, quicker than fp32 while links are slower than\n",
                             one.scenario.workers);
  Table table({{"codec", Align::left}, {"break-even"}});
  for (const Row& row : one.rows)
    if (row.break_even) table.add({row.codec, rate_text(*row.break_even)});
  console.out << table.text();
}

void print_table(const PredictWords& words, const Case& one, const Console& console) {
  console.out << fmt::format("{}, batch {} a worker, {} parallelism, on {}\n\n",
                             one.scenario.work.name, one.scenario.work.batch,
                             words.scenario.parallel, one.profile->name);
  Table table({{"workers"},
               {"codec", Align::left},
               {"step ms"},
               {"between"},
               {"compute"},
               {"encode"},
               {"wire"},
               {"decode"},
               {"slowdown"},
               {"wait"},
               {"overlap"},
               {"MB sent"},
               {"speedup"},
               {"efficiency"},
               {"over fp32"}});
  for (const Row& row : one.rows) {
    const Forecast& f = row.forecast;
    table.add({std::to_string(row.workers), row.codec, fmt::format("{:.2f}", f.step),
               fmt::format("{:.2f}-{:.2f}", f.low, f.high), fmt::format("{:.2f}", f.compute),
               fmt::format("{:.2f}", f.encode), fmt::format("{:.2f}", f.wire),
               fmt::format("{:.2f}", f.decode), fmt::format("{:.2f}", f.slowdown),
               fmt::format("{:.2f}", f.wait), fmt::format("{:.0f} %", 100 * f.overlap),
               fmt::format("{:.2f}", f.bytes / 1e6), fmt::format("{:.2f}", row.speedup),
               fmt::format("{:.0f} %", 100 * row.speedup / row.workers),
               fmt::format("{:.2f}", row.over_fp32)});
  }
  console.out << table.text();
  if (one.scenario.workers > 1) print_break_even(one, console);
}

std::string page_of(const Case& one) {
  std::vector<PredictionPoint> points;
  for (const Row& row : one.rows) {
    const Forecast& f = row.forecast;
    points.push_back({.codec = row.codec,
                      .workers = row.workers,
                      .step = f.step,
                      .low = f.low,
                      .high = f.high,
                      .compute = f.compute + f.slowdown,
                      .wait = f.wait,
                      .straggling = f.straggling,
                      .speedup = row.speedup,
                      .over_fp32 = row.over_fp32,
                      .megabytes = f.bytes / 1e6,
                      .break_even = row.break_even});
  }
  return prediction_page(points, fmt::format("{} on {}", one.scenario.work.name, one.profile->name),
                         one.profile->source);
}

void run(const PredictWords& words, const Console& console) {
  std::vector<Profile> profiles;
  for (const std::string& name : list_of(words.profiles)) profiles.push_back(find_profile(name));
  std::vector<Case> cases = cases_of(words, profiles);
  require(words.html.empty() || cases.size() == 1, Fault::usage,
          "--html is for one network, profile and batch");
  predict_all(words, cases);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (i != 0 && !words.json) console.out << "\n";
    words.json ? print_json(cases[i], console) : print_table(words, cases[i], console);
  }
  if (words.html.empty()) return;
  const std::string page = page_of(cases.front());
  write_bytes(words.html, std::as_bytes(std::span(page)), console);
}

}  // namespace

Action declare_predict(Arguments& arguments) {
  auto words = std::make_shared<PredictWords>();
  arguments.option("--net NAMES", words->nets,
                   "Networks of the profile or of our tables [mnist-mlp]; a wrong one lists them");
  arguments.option(
      "--profile P", words->profiles,
      "Files of 'narrowcast calibrate', or shipped profiles [ethernet-10g]; a wrong one "
      "lists them");
  arguments.option("--batch NUMBERS", words->batches,
                   "Examples of one worker and step [as measured, or 32]");
  declare_scenario(arguments, words->scenario);
  arguments.option("--workers N", words->workers,
                   "Numbers of workers: 8, 2,4,6 or 2..1024 (doubling) [2..1024]");
  arguments.option("--codec SPECS", words->codecs,
                   "Codecs, with commas between [fp32,dynamic8,qsgd:bits=4,onebit:column=512]");
  arguments.option("--html FILE", words->html, "Write a page with charts, too");
  arguments.flag("--json", words->json, "Print JSON Lines");
  return [words](const Console& console) { run(*words, console); };
}

}  // namespace narrowcast::cli
