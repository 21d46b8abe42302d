// Kinds that give a table: transfer, round-off, errors and paper.
#include <fmt/core.h>

#include <array>
#include <memory>

#include "base/error.hpp"
#include "codec/codec.hpp"
#include "codec/samples.hpp"
#include "collective/collective.hpp"
#include "plan/counts.hpp"
#include "plan/values.hpp"
#include "predict/papers.hpp"
#include "study/kinds/rows.hpp"
#include "study/kinds/words.hpp"

namespace narrowcast {
namespace {

// Of what a table has, all.
void read_rows(const std::string& printed, CellRecord& record) {
  for (const JsonTree& line : lines_of(printed)) record.rows.push_back(row_of_object(line));
}

// ---- transfer: a matrix from one rank to another, as D16 measured it ----

constexpr std::array kTransferAxes{KindAxis{"size", ""}, KindAxis{"transport", "shm"},
                                   KindAxis{"link", "none"}, KindAxis{"codec", "dynamic8"},
                                   KindAxis{"seed", "1"}};
constexpr std::array<std::string_view, 4> kTransferSettings{"iterations", "codec", kLauncher,
                                                            kHosts};

constexpr std::string_view kIterations = "20";
constexpr std::uint64_t kMostIterations = 1'000'000;

// Rank words want to know of two workers.
Cell with_two(Cell cell) {
  cell.axes.insert_or_assign("workers", std::string("2"));
  return cell;
}

void check_transfer(const Cell& cell) {
  check_ranks(with_two(cell));
  make_codec(codec_spec(cell));
  require(parse_count(cell.at("size")) >= sizeof(float), Fault::usage,
          "size takes 4 bytes and more");
  check_seed(cell);
  const std::string iterations = setting_or(cell, "iterations", kIterations);
  if (const auto number = whole_of(iterations); !number || *number < 1 || *number > kMostIterations)
    throw Error(Fault::usage, fmt::format("iterations takes whole numbers from 1 to {}, not '{}'",
                                          kMostIterations, iterations));
}

std::vector<CellCommand> transfer_commands(const Cell& cell, const CellPlace&) {
  const std::string size(cell.at("size"));
  std::vector<std::string> words = {"bench", "transfer", "--codec", "fp32"};
  if (const std::string codec = codec_spec(cell); codec != "fp32")
    words.insert(words.end(), {"--codec", codec});
  words.insert(words.end(),
               {"-b", size, "-e", size, "-n", setting_or(cell, "iterations", kIterations), "--seed",
                std::string(cell.at("seed")), "--json"});
  const std::vector<std::string> ranks = rank_words(with_two(cell));
  words.insert(words.end(), ranks.begin(), ranks.end());
  return {{.words = words, .launcher = launcher_of(with_two(cell))}};
}

void read_transfer(const std::string& printed, CellRecord& record) {
  const std::vector<JsonTree> lines = lines_of(printed);
  check_workers(number_in(lines.front(), "ranks"), record.cell);
  record.values["fp32_us"] = number_in(lines.front(), "time_us");
  constexpr std::array<std::string_view, 8> kKeys{"time_us", "side",      "bytes",   "wire_bytes",
                                                  "speedup", "encode_us", "wire_us", "decode_us"};
  take_numbers(lines.back(), kKeys, record);
}

// ---- round-off: what partial sums in few bits lose ----

constexpr std::array kRoundOffAxes{KindAxis{"codec", "float:e=5,m=2"}, KindAxis{"ranks", "256"},
                                   KindAxis{"seed", "1"}};
constexpr std::array<std::string_view, 2> kRoundOffSettings{"values", "codec"};
constexpr std::string_view kValues = "9408";  // of the paper's tensor
constexpr int kMostRanks = 1024;              // threads of one process

// As 'errors allreduce' would: every sum is rounded to the codec's own format there.
void check_round_off(const Cell& cell) {
  const std::unique_ptr<Codec> codec = make_codec(codec_spec(cell));
  const Piece piece{.values = {}, .codec = codec.get()};
  check(all_reduce_row("ring"), {&piece, 1}, {.sum = Sum::format});
  if (const int ranks = count_at(cell, "ranks"); ranks < 2 || ranks > kMostRanks)
    throw Error(Fault::usage, fmt::format("ranks takes 2 to {}, not {}", kMostRanks, ranks));
  parse_count(setting_or(cell, "values", kValues));
  check_seed(cell);
}

std::vector<CellCommand> round_off_commands(const Cell& cell, const CellPlace&) {
  return {{.words = {"errors", "allreduce", "--codec", codec_spec(cell), "--ranks",
                     std::string(cell.at("ranks")), "--values", setting_or(cell, "values", kValues),
                     "--seed", std::string(cell.at("seed")), "--json"}}};
}

// ---- errors: of a codec, on known distributions ----

constexpr std::array kErrorsAxes{KindAxis{"codec", ""}, KindAxis{"data", "normal"}};
constexpr std::array<std::string_view, 2> kErrorsSettings{"samples", "codec"};
constexpr std::string_view kSamples = "1M";

void check_errors(const Cell& cell) {
  make_codec(codec_spec(cell));
  distribution(std::string(cell.at("data")));
  parse_count(setting_or(cell, "samples", kSamples));
}

std::vector<CellCommand> errors_commands(const Cell& cell, const CellPlace&) {
  return {{.words = {"errors", codec_spec(cell), "--dist", std::string(cell.at("data")),
                     "--samples", setting_or(cell, "samples", kSamples), "--json"}}};
}

// ---- paper: what a paper's own model says ----

constexpr std::array kPaperAxes{KindAxis{"model", ""}};

void check_paper(const Cell& cell) { paper_model(std::string(cell.at("model"))); }

std::vector<CellCommand> paper_commands(const Cell& cell, const CellPlace&) {
  return {{.words = {"predict", "paper", std::string(cell.at("model")), "--corrected", "--json"}}};
}

}  // namespace

Kind transfer_kind() {
  return {"transfer",     "send matrices from one rank to another, beside fp32",
          kTransferAxes,  kTransferSettings,
          check_transfer, transfer_commands,
          read_transfer};
}

Kind round_off_kind() {
  return {"round-off",     "add in few bits over many ranks, by algorithm",
          kRoundOffAxes,   kRoundOffSettings,
          check_round_off, round_off_commands,
          read_rows};
}

Kind errors_kind() {
  return {"errors",     "measure a codec's error on a distribution",
          kErrorsAxes,  kErrorsSettings,
          check_errors, errors_commands,
          read_rows};
}

Kind paper_kind() {
  return {"paper",  "compute a paper's own model", kPaperAxes, {}, check_paper, paper_commands,
          read_rows};
}

}  // namespace narrowcast
