#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/cli/run_command.hpp"

namespace narrowcast::cli::test {
namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(Encode, GoesThereAndBackThroughPipes) {
  const std::vector<float> values = {1, -2.5f, 0, 1e30f};
  const Outcome encoded = run_command({"encode", "fp32"}, bytes_of(values));
  EXPECT_EQ(0, encoded.code) << encoded.err;
  const Outcome decoded = run_command({"decode"}, encoded.out);
  EXPECT_EQ(0, decoded.code) << decoded.err;
  EXPECT_EQ(values, floats_of(decoded.out));
}

TEST(Encode, TakesNothing) {
  const Outcome encoded = run_command({"encode", "dynamic8"});
  EXPECT_EQ(0, encoded.code) << encoded.err;
  const Outcome decoded = run_command({"decode"}, encoded.out);
  EXPECT_EQ(0, decoded.code) << decoded.err;
  EXPECT_EQ("", decoded.out);
}

TEST(Encode, GoesThereAndBackThroughFiles) {
  const TemporaryFolder folder;
  const std::string raw = bytes_of({1, 2, 3});
  write(folder / "raw", raw);
  const auto path = [&](const char* name) { return (folder / name).string(); };
  EXPECT_EQ(0, run_command({"encode", "fp32", path("raw"), "-o", path("frame")}).code);
  EXPECT_EQ(0, run_command({"decode", path("frame"), "--output", path("again")}).code);
  EXPECT_EQ(raw, contents(folder / "again"));
  EXPECT_EQ(3u, folder.files());
}

TEST(Encode, GivesOtherDiceForAnotherSeed) {
  const std::string raw = bytes_of(std::vector<float>(1000, 0.3f));
  const auto encoded = [&](const std::string& seed) {
    return run_command({"encode", "qsgd:bits=2,bucket=128,norm=l2", "--seed", seed}, raw).out;
  };
  EXPECT_EQ(encoded("1"), encoded("1"));
  EXPECT_NE(encoded("1"), encoded("2"));
  EXPECT_EQ(encoded("0"), run_command({"encode", "qsgd:bits=2,bucket=128,norm=l2"}, raw).out);
}

TEST(Encode, ResolvesColumnsByTheShape) {
  const std::string raw = bytes_of(std::vector<float>(12, 1));
  const Outcome shaped = run_command({"encode", "onebit:column=shape", "--shape", "3,4"}, raw);
  EXPECT_EQ(0, shaped.code) << shaped.err;
  EXPECT_EQ(run_command({"encode", "onebit:column=4"}, raw).out, shaped.out);
}

TEST(Encode, SaysHowToGiveTheShapeThatIsMissing) {
  const auto refused = [](const std::string& spec) {
    const Outcome outcome = run_command({"encode", spec});
    expect_refusal(outcome, 2);
    return outcome.err;
  };
  EXPECT_TRUE(refused("onebit:column=shape").ends_with("(give --shape)\n"));
  EXPECT_EQ(std::string::npos, refused("onebit:column=shape,threshold=x").find("--shape"));
  EXPECT_EQ(std::string::npos, refused("nothing").find("--shape"));
  const Outcome elsewhere = run_command({"bench", "codec", "onebit:column=shape"});
  expect_refusal(elsewhere, 2);
  EXPECT_EQ(std::string::npos, elsewhere.err.find("--shape"));
}

TEST(Encode, RefusesShapesThatDoNotFit) {
  const std::string raw = bytes_of(std::vector<float>(12, 1));
  for (const char* shape :
       {"3,5", "12,0", "4294967296,4294967296,12", "a,b", "3,,4", "-3,-4", ""}) {
    SCOPED_TRACE(shape);
    expect_refusal(run_command({"encode", "fp32", "--shape", shape}, raw), 2);
  }
}

TEST(Encode, RefusesBadWords) {
  expect_refusal(run_command({"encode"}), 2);
  expect_refusal(run_command({"encode", "nothing"}), 2);
  expect_refusal(run_command({"encode", "dynamic8:blok=1"}), 2);
  expect_refusal(run_command({"encode", "fp32", "--seed", "x"}), 2);
  expect_refusal(run_command({"encode", "fp32", "--seed", "-1"}), 2);
  expect_refusal(run_command({"encode", "fp32", "--seed"}), 2);
  expect_refusal(run_command({"encode", "fp32", "one", "two"}), 2);
}

TEST(Encode, RefusesInputThatEndsWithinAValue) {
  expect_refusal(run_command({"encode", "fp32"}, "12345"), 3);
}

TEST(Encode, RefusesFilesThatAreNotThere) {
  expect_refusal(run_command({"encode", "fp32", "/no/such/file"}), 5);
  expect_refusal(run_command({"encode", "fp32", "/"}), 5);
  expect_refusal(run_command({"encode", "fp32", "-o", "/no/such/folder/frame"}), 5);
}

TEST(Encode, WritesNoBinaryDataToATerminal) {
  expect_refusal(run_command({"encode", "fp32"}, "", {.out = true}), 2);
  expect_refusal(run_command({"decode"}, "", {.out = true}), 2);
}

TEST(Encode, DoesNotWaitForBinaryDataFromATerminal) {
  expect_refusal(run_command({"encode", "fp32"}, "", {.in = true}), 2);
  expect_refusal(run_command({"inspect"}, "", {.in = true}), 2);
}

TEST(Decode, RefusesBrokenFrames) {
  const std::string frame = run_command({"encode", "fp32"}, bytes_of({1, 2, 3})).out;
  expect_refusal(run_command({"decode"}, ""), 3);
  expect_refusal(run_command({"decode"}, "hello"), 3);
  expect_refusal(run_command({"decode"}, frame.substr(0, frame.size() - 1)), 3);
  expect_refusal(run_command({"decode"}, frame + frame), 3);
  expect_refusal(run_command({"inspect"}, frame + "x"), 3);
}

TEST(Inspect, SaysWhatIsInAFrame) {
  const std::string frame = run_command({"encode", "fp32"}, bytes_of({1, 2, 6})).out;
  const Outcome text = run_command({"inspect"}, frame);
  EXPECT_EQ(0, text.code);
  for (const char* part : {"fp32", "12 bytes", "correct", "min 1", "max 6", "mean 3"})
    EXPECT_NE(std::string::npos, text.out.find(part)) << part << " in\n" << text.out;
  const auto json = nlohmann::json::parse(run_command({"inspect", "--json"}, frame).out);
  EXPECT_EQ(1, json["version"]);
  EXPECT_EQ("fp32", json["spec"]);
  EXPECT_EQ(3, json["values"]);
  EXPECT_EQ(12, json["payload_bytes"]);
  EXPECT_EQ(1, json["ratio"]);
  EXPECT_EQ(0, json["not_finite"]);
  EXPECT_EQ(6, json["max"]);
}

TEST(Inspect, HasNoLeastOrLargestOfNothing) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const std::vector<float>& values : {std::vector<float>{}, {infinity, -infinity}}) {
    const std::string frame = run_command({"encode", "fp32"}, bytes_of(values)).out;
    const auto json = nlohmann::json::parse(run_command({"inspect", "--json"}, frame).out);
    for (const char* key : {"min", "max", "mean"}) EXPECT_TRUE(json.at(key).is_null()) << key;
    EXPECT_EQ(values.size(), json["not_finite"]);
  }
}

}  // namespace
}  // namespace narrowcast::cli::test
