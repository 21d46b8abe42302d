#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/json.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"
#include "predict/papers.hpp"

namespace narrowcast::cli {
namespace {

struct PaperWords {
  std::string model;
  bool corrected = false;
  bool json = false;
};

// A figure in one mode, in the other, or in both.
struct PaperRow {
  PaperFigure figure;  // without what was computed
  std::optional<double> computed = {};
  std::optional<double> corrected = {};
};

bool is_same(const PaperFigure& a, const PaperFigure& b) {
  return a.quantity == b.quantity && a.setting == b.setting && a.bits == b.bits &&
         a.batch == b.batch;
}

void add_corrected(const PaperFigure& figure, std::vector<PaperRow>& rows) {
  const auto same =
      std::ranges::find_if(rows, [&](const PaperRow& row) { return is_same(row.figure, figure); });
  if (same != rows.end())
    same->corrected = figure.computed;
  else
    rows.push_back({.figure = figure, .corrected = figure.computed});
}

std::vector<PaperRow> rows_of(const PaperModel& model, const PaperWords& words) {
  std::vector<PaperRow> rows;
  for (const PaperFigure& figure : model.figures(Errata::as_printed))
    rows.push_back({.figure = figure, .computed = figure.computed});
  if (words.corrected)
    for (const PaperFigure& figure : model.figures(Errata::corrected)) add_corrected(figure, rows);
  return rows;
}

JsonValue optional_json(const std::optional<double>& number) {
  return number ? JsonValue(*number) : JsonValue(nullptr);
}

std::string as_json(const PaperModel& model, const PaperRow& row, const PaperWords& words) {
  std::vector<JsonMember> line = {
      {"model", model.name},
      {"quantity", row.figure.quantity},
      {"setting", row.figure.setting},
      {"bits", row.figure.bits},
      {"batch", row.figure.batch == 0 ? JsonValue(nullptr) : JsonValue(row.figure.batch)},
      {"printed", optional_json(row.figure.printed)},
      {"computed", optional_json(row.computed)},
  };
  if (words.corrected) line.push_back({"corrected", optional_json(row.corrected)});
  return json_line(line);
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.4g}", *value) : "";
}

std::string deviation(const PaperRow& row) {
  if (!row.figure.printed || !row.computed) return "";
  const double tenths = std::round(1000 * (*row.computed / *row.figure.printed - 1));
  return tenths == 0 ? "0" : fmt::format("{:+.1f}", tenths / 10);
}

std::string table_of(const std::vector<PaperRow>& rows, const PaperWords& words) {
  std::vector<Column> columns = {{"quantity", Align::left},
                                 {"setting", Align::left},
                                 {"bits"},
                                 {"batch"},
                                 {"printed"},
                                 {"computed"},
                                 {"off %"}};
  if (words.corrected) columns.push_back({"corrected"});
  Table table(columns);
  for (const PaperRow& row : rows) {
    std::vector<std::string> cells = {std::string(row.figure.quantity),
                                      row.figure.setting,
                                      std::to_string(row.figure.bits),
                                      row.figure.batch == 0 ? "" : std::to_string(row.figure.batch),
                                      number(row.figure.printed),
                                      number(row.computed),
                                      deviation(row)};
    if (words.corrected) cells.push_back(number(row.corrected));
    table.add(std::move(cells));
  }
  return table.text();
}

std::string as_text(const PaperModel& model, const std::vector<PaperRow>& rows,
                    const PaperWords& words) {
  return fmt::format("{}: {}\n\n{}\n{}\n\n{}\n", model.name, model.summary, table_of(rows, words),
                     model.formula,
                     words.corrected ? model.errata
                                     : "computed: as the paper does, from unrounded terms. "
                                       "--corrected shows it with its errata mended, too.");
}

void predict_paper(const PaperWords& words, const Console& console) {
  const PaperModel& model = paper_model(words.model);
  const std::vector<PaperRow> rows = rows_of(model, words);
  if (!words.json)
    console.out << as_text(model, rows, words);
  else
    for (const PaperRow& row : rows) console.out << as_json(model, row, words);
}

std::string model_names() {
  std::string names;
  for (const PaperModel& model : paper_models())
    names.append(names.empty() ? "" : ", ").append(model.name);
  return names;
}

}  // namespace

Action declare_predict_paper(Arguments& arguments) {
  const auto words = std::make_shared<PaperWords>();
  arguments.word("MODEL", words->model, model_names());
  arguments.flag("--corrected", words->corrected, "Show it with the paper's errata mended, too");
  arguments.flag("--json", words->json, "JSON Lines, one object for each figure");
  return [words](const Console& console) { predict_paper(*words, console); };
}

}  // namespace narrowcast::cli
