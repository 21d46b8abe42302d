#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/comparison.hpp"
#include "cli/engines.hpp"
#include "codec/codec.hpp"
#include "codec/samples.hpp"
#include "tests/cli/json_lines.hpp"
#include "tests/support/places.hpp"

namespace narrowcast::cli::test {
namespace {

std::set<std::string> keys_of(const nlohmann::json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

TEST(Codecs, ListsEveryVariant) {
  const std::vector<nlohmann::json> lines = json_of({"codecs", "--json"});
  const std::string text = run_command({"codecs"}).out;
  std::size_t at = 0;
  for (const CodecRow& row : codecs())
    for (const std::string_view spec : row.variants) {
      ASSERT_LT(at, lines.size());
      const auto codec = make_codec(spec);
      const nlohmann::json& line = lines[at++];
      EXPECT_EQ(row.name, line["name"]);
      EXPECT_EQ(spec, line["spec"]);
      EXPECT_EQ(row.options.size(), line["options"].size());
      EXPECT_EQ(codec->promise().block, line["block"]);
      EXPECT_EQ(codec->promise().fixed_size, line["fixed_size"]);
      EXPECT_EQ(codec->promise().of_block, line["error"]["of_block"]);
      EXPECT_EQ(codec->promise().bias.has_value(), line["bias"].is_number());
      EXPECT_NE(std::string::npos, text.find(spec)) << spec;
    }
  EXPECT_EQ(at, lines.size());
}

TEST(Codecs, SayWhatHasToBeGiven) {
  const auto option = [](std::string_view codec, std::string_view key) {
    for (const nlohmann::json& line : json_of({"codecs", "--json"}))
      for (const nlohmann::json& each : line["options"])
        if (line["name"] == codec && each["key"] == key) return each;
    return nlohmann::json();
  };
  for (const char* key : {"e", "m"}) {
    EXPECT_EQ(true, option("float", key).at("required"));
    EXPECT_TRUE(option("float", key).at("default").is_null());
  }
  EXPECT_EQ(false, option("qsgd", "bucket").at("required"));
  EXPECT_TRUE(option("qsgd", "bucket").at("default").is_null());
  EXPECT_EQ("4", option("qsgd", "bits").at("default"));
  const std::string text = run_command({"codecs"}).out;
  for (const char* part : {"e (required) ", "m (required) ", "bucket (depends on bits) "})
    EXPECT_NE(std::string::npos, text.find(part)) << part;
}

// Written by `narrowcast codecs --markdown > docs/codecs.md`.
TEST(Codecs, AreDocumentedAsTheyAre) {
  const std::filesystem::path root = narrowcast::test::source_folder();
  EXPECT_EQ(run_command({"codecs", "--markdown"}).out, contents(root / "docs" / "codecs.md"));
}

TEST(BenchCodec, PrintsTheKeysThatToolsReadByName) {
  const std::set<std::string> keys = {"codec",     "values",        "threads",
                                      "target",    "encode_ns",     "decode_ns",
                                      "memcpy_ns", "accumulate_ns", "bits_per_value"};
  const auto lines = json_of({"bench", "codec", "fp32", "dynamic8", "--sizes", "1K,3000",
                              "--threads", "2", "--min-time", "0", "--json"});
  ASSERT_EQ(4u, lines.size());
  for (const nlohmann::json& line : lines) {
    EXPECT_EQ(keys, keys_of(line));
    EXPECT_EQ(2, line["threads"]);
  }
  EXPECT_EQ("fp32", lines[0]["codec"]);
  EXPECT_EQ(1024, lines[0]["values"]);
  EXPECT_EQ(32, lines[0]["bits_per_value"]);
  EXPECT_EQ("dynamic8", lines[1]["codec"]);
  EXPECT_EQ(3000, lines[2]["values"]);
}

TEST(BenchCodec, RefusesBadWordsBeforeItMeasures) {
  const std::vector<std::vector<std::string>> bad = {
      {"nothing"},           {"fp32", "nothing"},        {"--sizes", "0"},
      {"--sizes", "1k"},     {"--sizes", "1M,"},         {"--sizes", ""},
      {"--threads", "0"},    {"--threads", "x"},         {"--sizes", "-1"},
      {"--threads", "5000"}, {"--min-time", "-1"},       {"--min-time", "nan"},
      {"--sizes", "1.5M"},   {"--sizes", "99999999999G"}};
  for (const auto& more : bad) {
    std::vector<std::string> words = {"bench", "codec"};
    words.insert(words.end(), more.begin(), more.end());
    SCOPED_TRACE(more.back());
    expect_refusal(run_command(words), 2);
  }
}

TEST(BenchCodec, RefusesMoreThanTheMemoryHolds) {
  expect_refusal(run_command({"bench", "codec", "fp32", "--sizes", "1000000G"}), 5);
}

TEST(BenchCodec, ShowsProgressOnATerminalOnly) {
  const std::vector<std::string> words = {"bench", "codec",      "fp32", "--sizes",
                                          "1K",    "--min-time", "0"};
  EXPECT_EQ("", run_command(words).err);
  EXPECT_NE(std::string::npos, run_command(words, "", {.err = true}).err.find("[1/1] fp32"));
}

TEST(Errors, MeasuresWhatWasAsked) {
  const auto lines = json_of({"errors", "fp32", "dynamic8:block=0", "--dist", "normal,uniform",
                              "--samples", "1K", "--json"});
  ASSERT_EQ(4u, lines.size());
  EXPECT_EQ("fp32", lines[0]["codec"]);
  EXPECT_EQ("normal", lines[0]["distribution"]);
  EXPECT_EQ(1024, lines[0]["samples"]);
  EXPECT_EQ(0, lines[0]["mse"]);
  EXPECT_TRUE(lines[0]["snr_db"].is_null());  // infinite, which JSON cannot say
  EXPECT_FALSE(lines[0].contains("published"));
  EXPECT_EQ("dynamic8:block=0", lines[1]["codec"]);
  EXPECT_EQ(2.46, lines[1]["published"]["relative_percent"]);
  EXPECT_EQ("uniform", lines[3]["distribution"]);
}

TEST(Errors, MeasuresEveryDistributionWhenNoneIsNamed) {
  const auto lines = json_of({"errors", "fp32", "--samples", "8", "--json"});
  EXPECT_EQ(distributions().size(), lines.size());
}

TEST(Errors, RefusesBadWords) {
  expect_refusal(run_command({"errors", "nothing"}), 2);
  expect_refusal(run_command({"errors", "--dist", "poisson"}), 2);
  expect_refusal(run_command({"errors", "--dist", "normal,"}), 2);
  expect_refusal(run_command({"errors", "--samples", "0"}), 2);
}

TEST(Errors, RefuseMoreThanTheMemoryHolds) {
  const Outcome outcome = run_command({"errors", "fp32", "--samples", "1000000G"});
  expect_refusal(outcome, 5);
  EXPECT_NE(std::string::npos, outcome.err.find("GB of memory")) << outcome.err;
}

TEST(Compare, HasARowForEachCodecAndFitsATerminal) {
  const Outcome outcome = run_command({"compare", "--values", "1000", "--min-time", "0"});
  EXPECT_EQ(0, outcome.code) << outcome.err;
  for (const std::string_view spec : bench::comparison_specs())
    EXPECT_NE(std::string::npos, outcome.out.find("\n" + std::string(spec) + " ")) << spec;
  for (const std::string& line : lines_of(outcome.out)) {
    const auto columns = std::ranges::count_if(
        line, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
    EXPECT_LE(columns, 110) << line;
  }
}

TEST(Compare, IsColouredWhereColoursAreWanted) {
  const std::vector<std::string> words = {"compare", "--values", "1000", "--min-time", "0"};
  EXPECT_NE(std::string::npos,
            run_command(words, "", {.out = true, .colour = true}).out.find("\x1b[32m"));
  EXPECT_EQ(std::string::npos, run_command(words, "", {.out = true}).out.find('\x1b'));
}

TEST(Compare, RefusesBadWords) {
  expect_refusal(run_command({"compare", "--values", "many"}), 2);
  expect_refusal(run_command({"compare", "--min-time", "-1"}), 2);
}

TEST(Doctor, SaysWhatIsThereAndWhatIsMissing) {
  const Outcome text = run_command({"doctor"});
  EXPECT_EQ(0, text.code) << text.err;
  for (const char* part : {"compiled", "usable", "in use", "scalar", "Copy speed", "Gloo",
                           "Open MPI", "MPICH", "libtorch"})
    EXPECT_NE(std::string::npos, text.out.find(part)) << part;
  const auto line = json_of({"doctor", "--json"}).at(0);
  const bool complete = std::ranges::all_of(line["engines"], [](const nlohmann::json& engine) {
    return engine["state"] == "found" && engine["used"];
  });
  EXPECT_EQ(complete, text.out.ends_with("Nothing is missing.\n")) << text.out;
  EXPECT_EQ(!complete, text.out.find("To have all of them") != std::string::npos) << text.out;
  EXPECT_EQ("scalar", line["targets_usable"][0]);
  EXPECT_EQ(4u, line["engines"].size());
  for (const nlohmann::json& engine : line["engines"])
    EXPECT_EQ(!engine["module"].get<std::string>().empty(), engine["used"]);
  for (const char* library : {"Highway", "xxHash", "fmt"}) {
    const std::string version = line["libraries"].at(library);
    EXPECT_EQ(2, std::ranges::count(version, '.')) << library << " " << version;
    EXPECT_NE(std::string::npos, text.out.find(std::string(library) + " " + version));
  }
}

TEST(Doctor, ReadsVersionsFromTheNamesOfLibraries) {
  const TemporaryFolder folder;
  std::ofstream(folder / "libx.so.40.30.4") << "";
  std::filesystem::create_symlink("libx.so.40.30.4", folder / "libx.so.40");
  std::ofstream(folder / "liby.so") << "";
  EXPECT_EQ("40.30.4", library_version(folder / "libx.so.40"));
  EXPECT_EQ("", library_version(folder / "liby.so"));
  EXPECT_EQ("", library_version(""));
}

}  // namespace
}  // namespace narrowcast::cli::test
