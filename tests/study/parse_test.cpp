#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "study/study.hpp"
#include "tests/support/fault_text.hpp"
#include "tests/support/temporary_folder.hpp"

namespace narrowcast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string refusal(const std::string& toml) {
  return fault_text([&] { parse_study(toml, "s.toml"); });
}

std::vector<std::string> values_of(const Study& study, std::string_view axis) {
  std::vector<std::string> values;
  for (const Cell& cell : study.cells) values.emplace_back(cell.at(axis));
  return values;
}

constexpr std::string_view kTwoByTwo = R"(
title = "Two"
[[part]]
kind = "train"
codec = ["fp32", "dynamic8"]
seed = [7, 8]
)";

TEST(Study, IsAMatrixWithSeedsOutermost) {
  const Study study = parse_study(kTwoByTwo, "s.toml");
  EXPECT_THAT(values_of(study, "codec"), ElementsAre("fp32", "dynamic8", "fp32", "dynamic8"));
  EXPECT_THAT(values_of(study, "seed"), ElementsAre("7", "7", "8", "8"));
}

TEST(Study, GivesEveryCellTheUsualValues) {
  const Study study = parse_study("[[part]]\nkind = \"train\"\n", "s.toml");
  ASSERT_EQ(1u, study.cells.size());
  EXPECT_EQ("mnist-mlp", study.cells[0].at("net"));
  EXPECT_EQ("fashion-mnist", study.cells[0].at("data"));
  EXPECT_EQ("fp32", study.cells[0].at("codec"));
  EXPECT_EQ("1", study.cells[0].at("seed"));
  EXPECT_EQ("", study.cells[0].at("batch"));
}

// A few words can stand for more cells than any memory holds.
TEST(Study, IsRefusedBeforeItsCellsAreMade) {
  std::string numbers;
  for (int i = 1; i <= 1000; ++i) numbers += std::to_string(i) + ",";
  const std::string part = "[[part]]\nkind = \"train\"\n";
  EXPECT_THAT(refusal(part + "seed = [" + numbers + "]\nbatch = [" + numbers + "]\nworkers = [" +
                      numbers + "]\n"),
              HasSubstr("more than 100000 cells"));
}

TEST(Study, HasACellOnceHoweverManyPartsHaveIt) {
  const std::string part = "[[part]]\nkind = \"paper\"\nmodel = \"d16-cluster\"\n";
  EXPECT_EQ(1u, parse_study(part + part, "s.toml").cells.size());
}

// Else one run would count as several that are independent.
TEST(Study, KnowsANumberHoweverItIsWritten) {
  const Study study = parse_study(
      "[[part]]\nkind = \"train\"\nseed = [\"1\", \"01\", \"001\", 2]\n"
      "workers = [\"02\", 2]\nbatch = \"064\"\n",
      "s.toml");
  EXPECT_THAT(values_of(study, "seed"), ElementsAre("1", "2"));
  EXPECT_THAT(values_of(study, "workers"), ElementsAre("2", "2"));
  EXPECT_THAT(values_of(study, "batch"), ElementsAre("64", "64"));
  const std::string transfer = "[[part]]\nkind = \"transfer\"\nsize = ";
  const auto sizes = [&](const std::string& list) {
    return values_of(parse_study(transfer + list, "s.toml"), "size");
  };
  EXPECT_THAT(sizes("[\"64K\", 65536, \"1024K\", 1000]\n"), ElementsAre("64K", "1M", "1000"));
  EXPECT_THAT(
      values_of(parse_study("[[part]]\nkind = \"round-off\"\nranks = \"04\"\n", "s"), "ranks"),
      ElementsAre("4"));
}

TEST(Study, KnowsCodecsByNamesOfItsOwn) {
  const Study study = parse_study(R"(
[codecs.small]
codec = "onebit:column=512"
feedback = true
[codecs.mixed]
plan.rule = [{ tensors = "*", codec = "e5m2", scaling = "aps" }]
[[part]]
kind = "train"
codec = ["small", "mixed"]
)",
                                  "s.toml");
  ASSERT_EQ(2u, study.cells.size());
  EXPECT_EQ("small", study.cells[0].at("codec"));
  EXPECT_EQ("onebit:column=512", study.cells[0].settings.at("codec"));
  EXPECT_EQ("true", study.cells[0].settings.at("feedback"));
  EXPECT_FALSE(study.cells[1].settings.contains("codec"));
  EXPECT_THAT(study.cells[1].settings.at("plan.rule"), HasSubstr("e5m2"));
}

TEST(Study, LaysAPlanUnderEveryCodec) {
  const Study study = parse_study(R"(
[plans.ring]
algorithm = "ring"
[[part]]
kind = "speed"
codec = ["fp32", "fp16"]
plan = ["none", "ring"]
)",
                                  "s.toml");
  ASSERT_EQ(4u, study.cells.size());
  EXPECT_EQ("ring", study.cells[1].settings.at("plan.algorithm"));
  EXPECT_FALSE(study.cells[0].settings.contains("plan.algorithm"));
}

TEST(Study, PredictsFromShippedProfilesWithoutLinks) {
  const Study study = parse_study(
      "[[part]]\nkind = \"predict\"\nnet = \"alexnet\"\nprofile = [\"ec2-k80\", \"here\"]\n", "s");
  ASSERT_EQ(2u, study.cells.size());
  EXPECT_EQ("", study.cells[0].at("link"));
  EXPECT_EQ("none", study.cells[1].at("link"));
}

TEST(Study, RefusesWithTheLineAndWhatWouldFit) {
  EXPECT_THAT(refusal("titel = \"x\"\n[[part]]\nkind = \"train\"\n"),
              StartsWith("usage: s.toml:1: a study has no 'titel'"));
  EXPECT_THAT(refusal("title = \"x\"\n"), HasSubstr("at least one [[part]]"));
  EXPECT_THAT(refusal("part = []\n"), HasSubstr("at least one [[part]]"));
  EXPECT_THAT(refusal("[[part]]\nnet = \"lstm\"\n"), HasSubstr("needs 'kind'"));
  EXPECT_THAT(refusal("[[part]]\nkind = \"trian\"\n"), HasSubstr("no kind 'trian'"));
  EXPECT_THAT(refusal("[[part]]\nkind = \"train\"\ncodecs = \"fp32\"\n"),
              StartsWith("usage: s.toml:3: a part of kind train has no 'codecs'"));
  EXPECT_THAT(refusal("[[part]]\nkind = \"train\"\nseed = []\n"),
              StartsWith("usage: s.toml:3: seed is an empty list"));
  EXPECT_THAT(refusal("[[part]]\nkind = \"train\"\nseed = [1, 1]\n"), HasSubstr("'1' twice"));
  EXPECT_THAT(refusal("[[part]]\nkind = \"train\"\ncodec = \"dynamic9\"\n"), HasSubstr("dynamic9"));
  EXPECT_THAT(refusal("[[part]]\nkind = \"train\"\nnet = \"lenet\"\n"), HasSubstr("lenet"));
  EXPECT_THAT(refusal("[[part]]\nkind = \"train\"\nplan = \"p\"\n"), HasSubstr("no [plans.p]"));
  EXPECT_THAT(refusal("[[part]]\nkind = \"train\"\nworkers = 0\n"), HasSubstr("workers"));
  EXPECT_THAT(refusal("[[part]]\nkind = \"train\"\ntransport = \"smoke\"\n"), HasSubstr("smoke"));
  EXPECT_THAT(refusal("[[part]]\nkind = \"train\"\n[part.settings]\nepoch = 3\n"),
              HasSubstr("epoch"));
  EXPECT_THAT(refusal("[[part]]\nkind = \"paper\"\nmodel = \"d17\"\n"), HasSubstr("d17"));
  EXPECT_THAT(refusal("[[part]]\nkind = \"errors\"\ncodec = \"fp16\"\n[part.settings]\nseed = 3\n"),
              HasSubstr("no setting 'seed'"));
  EXPECT_THAT(refusal("order = \"any\"\n[[part]]\nkind = \"train\"\n"),
              HasSubstr("fixed or random"));
  EXPECT_THAT(refusal("tolerance = -1\n[[part]]\nkind = \"train\"\n"), HasSubstr("tolerance"));
  EXPECT_THAT(refusal("[codecs.a]\nfeedback = true\n[[part]]\nkind = \"train\"\n"),
              HasSubstr("needs 'codec'"));
  EXPECT_THAT(refusal("[[part]\n"), StartsWith("usage: s.toml:1"));
}

// What a command would refuse is no cell that fails.
TEST(Study, RefusesValuesThatTheCommandsDoNotTake) {
  const auto refused = [](const std::string& kind, const std::string& axes,
                          const std::string& settings) {
    return refusal("[[part]]\nkind = \"" + kind + "\"\n" + axes + "[part.settings]\n" + settings);
  };
  const std::string codec = "codec = \"fp16\"\n";
  EXPECT_THAT(refused("errors", codec, "samples = \"abc\"\n"), HasSubstr("'abc' is not a count"));
  EXPECT_THAT(refused("errors", codec, "samples = -5\n"), HasSubstr("'-5' is not a count"));
  const std::string size = "size = \"4K\"\n";
  EXPECT_THAT(refused("transfer", "size = \"abc\"\n", ""), HasSubstr("'abc' is not a count"));
  EXPECT_THAT(refused("transfer", "size = 3\n", ""), HasSubstr("4 bytes and more"));
  EXPECT_THAT(refused("transfer", size + "seed = \"x\"\n", ""), HasSubstr("'x' is not a seed"));
  EXPECT_THAT(refused("transfer", size, "iterations = \"x\"\n"), HasSubstr("iterations"));
  EXPECT_EQ("no error", refused("transfer", size + "seed = 3\n", "iterations = 5\n"));
  EXPECT_THAT(refused("round-off", "seed = \"x\"\n", ""), HasSubstr("'x' is not a seed"));
  EXPECT_THAT(refused("round-off", "ranks = 1000000\n", ""), HasSubstr("ranks takes 2 to 1024"));
  EXPECT_THAT(refused("round-off", "", "values = \"abc\"\n"), HasSubstr("'abc' is not a count"));
  EXPECT_THAT(refused("speed", "", "steps = 3\n"), HasSubstr("steps takes 6 and more"));
  EXPECT_EQ("no error", refused("speed", "", "steps = 6\n"));
  EXPECT_THAT(refused("train", "workers = 100000\n", ""), HasSubstr("1 to 256 over shm"));
  // Cells would go on from each other's weights.
  for (const std::string key : {"checkpoint", "weights"})
    EXPECT_THAT(refused("train", "", key + " = \"here\"\n"), HasSubstr("leave '" + key + "' out"));
  EXPECT_THAT(refused("speed", "", "resume = true\n"), HasSubstr("leave 'resume' out"));
  EXPECT_THAT(refused("train", "", "test = false\n"), HasSubstr("there for its errors"));
  EXPECT_THAT(refused("train", "net = \"resnet20\"\nparallel = \"model\"\n", ""),
              HasSubstr("resnet20 has layers that"));
  EXPECT_EQ("no error", refused("train", "parallel = \"model\"\n", ""));
  EXPECT_EQ("no error", refused("train", "workers = 2000\n", "launcher = \"srun -n {workers}\"\n"));
}

TEST(Study, RefusesPredictionsThatTheCommandsDoNotTake) {
  const auto refused = [](const std::string& axes, const std::string& settings) {
    return refusal("[[part]]\nkind = \"predict\"\nnet = \"alexnet\"\nprofile = \"ec2-k80\"\n" +
                   axes + "[part.settings]\n" + settings);
  };
  EXPECT_EQ("no error",
            refused("batch = 128\n", "fusion = \"1024G\"\nimages = 1281167\nseconds = 0.5\n"));
  EXPECT_THAT(refused("parallel = \"foo\"\n", ""), HasSubstr("data, model or hybrid"));
  EXPECT_THAT(refused("batch = \"foo\"\n", ""), HasSubstr("batch takes whole numbers"));
  for (const std::string axis : {"link", "transport"})
    EXPECT_THAT(refused(axis + " = [\"gloo\", \"1gbit\"]\n", ""),
                HasSubstr("'" + axis + "' is for the profile 'here'"));
  for (const std::string key : {"algorithm", "fusion", "seconds", "images"})
    EXPECT_THAT(refused("", key + " = \"foo\"\n"), HasSubstr(key));
}

// They would fail only once their turn comes.
TEST(Study, RefusesPredictionsThatNobodyCanMake) {
  const auto refused = [](const std::string& net, const std::string& more) {
    return refusal("[[part]]\nkind = \"predict\"\nnet = \"" + net + "\"\n" + more);
  };
  const std::string model = "parallel = \"model\"\n";
  for (const std::string profile : {"profile = \"ec2-k80\"\n", "profile = \"here\"\n"}) {
    EXPECT_THAT(refused("alexnet", profile + model), HasSubstr("more than fully connected"));
    EXPECT_THAT(refused("alexnet", profile + "codec = \"onebit:column=shape\"\n"),
                HasSubstr("needs the tensor's shape"));
    EXPECT_EQ("no error", refused("alexnet", profile + "parallel = \"hybrid\"\n"));
    EXPECT_EQ("no error", refused("mnist-mlp", profile + model));
  }
  EXPECT_THAT(refused("fcn", "parallel = \"hybrid\"\n"), HasSubstr("no fully connected"));
}

TEST(Study, RefusesRoundOffInCodecsThatCannotAdd) {
  const auto refused = [](const std::string& codec) {
    return refusal("[[part]]\nkind = \"round-off\"\ncodec = \"" + codec + "\"\n");
  };
  for (const std::string codec : {"onebit", "qsgd:bits=4", "dynamic8"})
    EXPECT_THAT(refused(codec), HasSubstr("sum=format is not possible with " + codec));
  EXPECT_EQ("no error", refused("bf16"));
}

TEST(Study, RefusesAnAxisAmongTheSettings) {
  EXPECT_THAT(refusal("[[part]]\nkind = \"train\"\n[part.settings]\nnet = \"resnet20\"\n"),
              HasSubstr("s.toml:3: 'net' is an axis"));
}

TEST(Study, RefusesANameThatStandsForMoreThanACodecWhereOneIsMeasured) {
  const std::string codecs =
      "[codecs.mixed]\nplan.rule = [{ tensors = \"*\", codec = \"e5m2\" }]\n"
      "[codecs.scaled]\ncodec = \"e5m2\"\nscaling = \"aps\"\n"
      "[codecs.fed]\ncodec = \"onebit\"\nfeedback = true\n";
  const auto refused = [&](const std::string& name) {
    return refusal(codecs + "[[part]]\nkind = \"errors\"\ncodec = \"" + name + "\"\n");
  };
  EXPECT_THAT(refused("mixed"), HasSubstr("takes a codec alone, and 'mixed' has 'plan.rule'"));
  EXPECT_THAT(refused("scaled"), HasSubstr("'scaled' has 'scaling'"));
  EXPECT_EQ("no error", refused("fed"));
}

TEST(Study, RefusesALinkThatIsNone) {
  EXPECT_THAT(refusal("[[part]]\nkind = \"speed\"\nlink = \"fast\"\n"),
              HasSubstr("'fast' is not the shape of a link"));
  // A launcher makes links in words of its own.
  EXPECT_EQ("no error", refusal("[[part]]\nkind = \"speed\"\nlink = \"fast\"\n[part.settings]\n"
                                "launcher = \"lab {link} --\"\n"));
}

TEST(Study, CalibratesWithAsManyWorkersAsItSays) {
  const std::string part = "[[part]]\nkind = \"predict\"\nnet = \"mnist-mlp\"\n[part.settings]\n";
  EXPECT_THAT(refusal(part + "launcher = \"srun\"\n"), HasSubstr("not told of {workers}"));
  EXPECT_EQ("no error", refusal(part + "launcher = \"srun -n {workers}\"\n"));
}

TEST(Study, RefusesNamesThatATerminalWouldObey) {
  const std::string part = "[[part]]\nkind = \"errors\"\ncodec = \"fp16\"\n";
  EXPECT_THAT(refusal("title = \"a\\u001b[2Jb\"\n" + part),
              HasSubstr("s.toml:1: 'a?[2Jb' has control characters"));
  EXPECT_THAT(refusal("name = \"a\\nb\"\n" + part), HasSubstr("'a?b' has control"));
  for (const std::string of : {"codecs", "plans"})
    EXPECT_THAT(refusal("[" + of + ".\"x\\u202Ey\"]\ncodec = \"fp16\"\n" + part),
                HasSubstr("'x?y' has control"));
  EXPECT_THAT(refusal("[[part]]\nkind = \"speed\"\nlink = \"\\u0007\"\n[part.settings]\n"
                      "launcher = \"lab {link} --\"\n"),
              HasSubstr("s.toml:3: '?' has control"));
  EXPECT_EQ("no error", refusal("about = \"a\\nb\"\n" + part));
}

TEST(Study, RefusesACodecByTheNameOfAnother) {
  const auto refused = [](const std::string& table) {
    return refusal(table + "[[part]]\nkind = \"train\"\n");
  };
  EXPECT_THAT(refused("[codecs.fp32]\ncodec = \"dynamic8\"\n"),
              HasSubstr("s.toml:1: 'fp32' is a codec, and cannot stand for another"));
  EXPECT_THAT(refused("[codecs.\"qsgd:bits=4\"]\ncodec = \"qsgd:bits=2\"\n"),
              HasSubstr("cannot stand for another"));
  EXPECT_THAT(refused("[codecs.e5m2]\nplan.rule = [{ tensors = \"*\", codec = \"e4m3\" }]\n"),
              HasSubstr("cannot stand for another"));
  EXPECT_EQ("no error",
            refused("[codecs.onebit]\ncodec = \"onebit:column=64\"\nfeedback = true\n"));
  EXPECT_EQ("no error", refused("[codecs.fp32]\ncodec = \"fp32\"\n"));
  EXPECT_EQ("no error",
            refused("[codecs.e5m2]\nplan.errors = \"e5m2\"\n"
                    "plan.rule = [{ tensors = \"*\", codec = \"e5m2\", scaling = \"aps\" }]\n"));
}

TEST(Study, RefusesABaselineThatNoPartHas) {
  EXPECT_THAT(refusal("baseline = \"fp33\"\n" + std::string(kTwoByTwo)),
              HasSubstr("s.toml:1: no part has the codec 'fp33'"));
  EXPECT_EQ("no error", refusal("[[part]]\nkind = \"errors\"\ncodec = \"fp16\"\n"));
}

TEST(Study, IsReadWithoutWhatItsCellsNeed) {
  const std::string toml =
      "[[part]]\nkind = \"predict\"\nnet = \"alexnet\"\nprofile = \"gone/mine.toml\"\n";
  EXPECT_THAT(refusal(toml), HasSubstr("gone/mine.toml"));
  EXPECT_EQ(1u, parse_study(toml, "s.toml", StudyUse::read).cells.size());
}

TEST(Study, IsCalledAsItsFileIs) {
  const TemporaryFolder at;
  std::ofstream(at / "links.toml") << "[[part]]\nkind = \"paper\"\nmodel = \"d16-node\"\n";
  EXPECT_EQ("links", read_study(at / "links.toml", StudyUse::run).name);
  EXPECT_EQ("links", read_study(at / "links.toml", StudyUse::run).title);
}

}  // namespace
}  // namespace narrowcast::test
