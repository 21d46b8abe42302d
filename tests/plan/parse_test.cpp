#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "plan/plan.hpp"
#include "tests/plan/refusal.hpp"

namespace narrowcast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Plan parsed(std::string_view toml) { return parse_plan(toml, "plan.toml"); }

TEST(APlanFile, ThatIsEmptyIsTheDefaultPlan) { EXPECT_EQ(parsed(""), Plan{}); }

TEST(APlanFile, HasRulesInTheirOrder) {
  const Plan plan = parsed(R"(
    [[rule]]
    tensors = "features.*"
    codec = "dynamic8"
    feedback = true

    [[rule]]
    tensors = "*"
    codec = "float:e=4,m=3"
    scaling = "aps-tight"
  )");
  EXPECT_THAT(
      plan.rules,
      ElementsAre(
          Rule{.pattern = "features.*", .way = {.codec = "dynamic8", .feedback = Feedback::on}},
          Rule{.pattern = "*", .way = {.codec = "float:e=4,m=3", .scaling = Scaling::aps_tight}}));
}

TEST(APlanFile, SetsEveryPlainKey) {
  const Plan plan = parsed(R"(
    min_elements = 5
    algorithm = "hierarchy"
    group = 4
    fusion = "2MiB"
    total = "sum"
    non_finite = "skip-step"
    deadline = "90s"
    key_file = "job.key"
  )");
  EXPECT_EQ(plan, (Plan{.min_elements = 5,
                        .algorithm = "hierarchy",
                        .group = 4,
                        .fusion_bytes = 2u << 20,
                        .total = Total::sum,
                        .non_finite = NonFinitePolicy::skip_step,
                        .deadline = std::chrono::seconds(90),
                        .key_file = "job.key"}));
}

TEST(APlanFile, HasWaysForModelParallelism) {
  const Plan plan = parsed(R"(
    errors = "linear8"
    [activations]
    codec = "e4m3"
    scaling = "aps"
  )");
  EXPECT_EQ(plan.activations, (Way{.codec = "e4m3", .scaling = Scaling::aps}));
  EXPECT_EQ(plan.errors, Way{.codec = "linear8"});
}

TEST(APlanFile, TakesSizesInBytesAndInUnits) {
  const auto size = [](const std::string& text) { return parsed("fusion = " + text).fusion_bytes; };
  EXPECT_EQ(size("0"), 0u);
  EXPECT_EQ(size("1000"), 1000u);
  EXPECT_EQ(size("\"1000\""), 1000u);
  EXPECT_EQ(size("\"64K\""), 65'536u);
  EXPECT_EQ(size("\"64KiB\""), 65'536u);
  EXPECT_EQ(size("\"3M\""), 3u << 20);
  EXPECT_EQ(size("\"3MiB\""), 3u << 20);
  EXPECT_EQ(size("\"1GiB\""), 1u << 30);
}

TEST(APlanFile, TakesDeadlinesInSecondsAndInUnits) {
  using std::chrono::milliseconds;
  const auto deadline = [](const std::string& text) {
    return parsed("deadline = " + text).deadline;
  };
  EXPECT_EQ(deadline("300"), milliseconds(300'000));
  EXPECT_EQ(deadline("0.5"), milliseconds(500));
  EXPECT_EQ(deadline("\"300s\""), milliseconds(300'000));
  EXPECT_EQ(deadline("\"1.5s\""), milliseconds(1500));
  EXPECT_EQ(deadline("\"250ms\""), milliseconds(250));
  EXPECT_EQ(deadline("\"5min\""), milliseconds(300'000));
}

TEST(APlanFile, LetsAChangeInheritFromItsRule) {
  const Plan plan = parsed(R"(
    [[rule]]
    tensors = "*"
    codec = "float:e=5,m=2"
    scaling = "aps"
    feedback = true
    [[rule.schedule]]
    epoch = 3
    codec = "float:e=4,m=3"
    [[rule.schedule]]
    epoch = 5
    scaling = "none"
    feedback = false
  )");
  EXPECT_THAT(plan.rules.at(0).schedule,
              ElementsAre(Change{3, Way{"float:e=4,m=3", Scaling::aps, Feedback::on}},
                          Change{5, Way{"float:e=5,m=2", Scaling::none, Feedback::off}}));
}

TEST(APlanFile, MayScaleEveryCodecWithAFixedRange) {
  for (const char* codec : {"float:e=3,m=0", "float:e=6,m=9", "e4m3", "e5m2:overflow=saturate"})
    EXPECT_EQ(parsed(std::string("[[rule]]\ntensors='*'\nscaling='aps'\ncodec='") + codec + "'")
                  .rules.at(0)
                  .way.scaling,
              Scaling::aps);
}

TEST(APlanFile, ThatScalesAnotherCodecIsToldWhichOnesItMay) {
  for (const char* codec : {"fp32", "fp16", "dynamic8", "mxfp8", "qsgd:bits=4", "onebit"}) {
    const std::string message =
        refusal(std::string("[[rule]]\ntensors='*'\nscaling='aps'\ncodec='") + codec + "'");
    EXPECT_THAT(message, StartsWith("plan.toml:4: scaling aps is for float, e4m3 and e5m2"));
  }
}

TEST(APlanFile, MayLeaveTheColumnToTheTensorsShape) {
  EXPECT_EQ(parsed("[[rule]]\ntensors='*'\ncodec='onebit:column=shape'").rules.size(), 1u);
}

TEST(APlanFile, WithAnUnknownKeyNamesTheNearest) {
  EXPECT_EQ(refusal("group = 2\nalgoritm = 'ring'"),
            "plan.toml:2: unknown key 'algoritm' of a plan; did you mean 'algorithm'?");
  EXPECT_EQ(refusal("[[rule]]\ntensor = '*'"),
            "plan.toml:2: unknown key 'tensor' of a rule; did you mean 'tensors'?");
  EXPECT_THAT(refusal("[[rule]]\ntensors='*'\ncodec='fp32'\n[[rule.schedule]]\nepochs=1"),
              StartsWith("plan.toml:5: unknown key 'epochs'"));
}

TEST(APlanFile, WithAnUnknownKeyThatIsNearNoneListsAll) {
  const std::string message = refusal("colour = 'blue'");
  EXPECT_THAT(message, StartsWith("plan.toml:1: unknown key 'colour'"));
  for (const char* key : {"rule", "activations", "errors"}) EXPECT_THAT(message, HasSubstr(key));
  for (const std::string_view key : plan_keys()) EXPECT_THAT(message, HasSubstr(std::string(key)));
}

TEST(APlanFile, AllowsNoFeedbackForActivations) {
  EXPECT_THAT(refusal("[activations]\ncodec='onebit'\nfeedback=true"),
              StartsWith("plan.toml:3: unknown key 'feedback' of activations"));
}

TEST(APlanFile, WithAnUnknownCodecIsToldWhichThereAre) {
  const std::string message = refusal("[[rule]]\ntensors='*'\ncodec='dynamic9'");
  EXPECT_THAT(message, StartsWith("plan.toml:3: no codec \"dynamic9\"; there are: "));
  EXPECT_THAT(message, HasSubstr("dynamic8"));
  EXPECT_THAT(refusal("errors='qsgd:bits=99'"), StartsWith("plan.toml:1: codec qsgd"));
}

TEST(APlanFile, WithAValueThatDoesNotFitIsToldWhatWould) {
  EXPECT_EQ(refusal("\nalgorithm = 'tree'"),
            "plan.toml:2: algorithm is one of direct, ring, hierarchy, gather, auto, not 'tree'");
  EXPECT_EQ(refusal("total = 'mean'"), "plan.toml:1: total is one of sum, average, not 'mean'");
  EXPECT_EQ(refusal("[[rule]]\ntensors='*'\ncodec='fp32'\nscaling='apt'"),
            "plan.toml:4: scaling is one of none, aps, aps-tight, not 'apt'");
  EXPECT_EQ(refusal("[[rule]]\ntensors='*'\ncodec='fp32'\nfeedback=1"),
            "plan.toml:4: feedback is true or false, not '1'");
}

TEST(APlanFile, WithANumberOutOfRangeIsRefused) {
  for (const char* line :
       {"min_elements = -1", "min_elements = 1.5", "min_elements = ''", "group = -1",
        "group = 2147483648", "fusion = '4XB'", "fusion = 'MiB'", "fusion = '-1MiB'",
        "fusion = '99999999999999999999'", "fusion = '9999999999999G'", "deadline = 0",
        "deadline = -3", "deadline = nan", "deadline = inf", "deadline = '0.1ms'",
        "deadline = '300h'", "deadline = 1e300", "deadline = true", "min_elements = 1979-05-27"})
    EXPECT_THAT(refusal(line), StartsWith("plan.toml:1: "));
}

TEST(APlanFile, WithTheWrongKindOfValueIsRefused) {
  for (const char* line :
       {"group = [1]", "group = {}", "rule = 3", "rule = {}", "rule = [3]", "activations = 3",
        "activations = []", "activations = {}", "rule = [{ tensors = ['*'], codec = 'fp32' }]",
        "rule = [{ tensors = '*', codec = {} }]",
        "rule = [{ tensors = '*', codec = 'fp32', schedule = 3 }]",
        "rule = [{ tensors = '*', codec = 'fp32', schedule = [3] }]"})
    EXPECT_THAT(refusal(line), StartsWith("plan.toml:1: "));
}

TEST(ARuleInAFile, NeedsItsTensorsAndItsCodec) {
  EXPECT_EQ(refusal("\n[[rule]]\ncodec='fp32'"), "plan.toml:2: a rule needs tensors");
  EXPECT_EQ(refusal("[[rule]]\ntensors=''\ncodec='fp32'"), "plan.toml:1: a rule needs tensors");
  EXPECT_EQ(refusal("[[rule]]\ntensors='*'"), "plan.toml:1: a rule needs codec");
}

TEST(AScheduleInAFile, GoesByOneUnitAndAscends) {
  const auto schedule = [](const std::string& changes) {
    return refusal("rule = [{ tensors = '*', codec = 'fp32', schedule = [" + changes + "] }]");
  };
  EXPECT_THAT(schedule("{ codec = 'e4m3' }"), HasSubstr("either epoch or step"));
  EXPECT_THAT(schedule("{ epoch = 1, step = 1 }"), HasSubstr("either epoch or step"));
  EXPECT_THAT(schedule("{ epoch = 1 }, { step = 2 }"), HasSubstr("all by step"));
  EXPECT_THAT(schedule("{ epoch = 2 }, { epoch = 2 }"), HasSubstr("2 comes after 2"));
  EXPECT_THAT(schedule("{ epoch = 2 }, { epoch = 1 }"), HasSubstr("1 comes after 2"));
  EXPECT_THAT(schedule("{ epoch = -1 }"), HasSubstr("epoch is a whole number, not '-1'"));
}

TEST(AScheduleInAFile, IsCheckedWithWhatItInherits) {
  EXPECT_THAT(refusal("[[rule]]\ntensors='*'\ncodec='e4m3'\nscaling='aps'\n"
                      "[[rule.schedule]]\nstep=1\ncodec='dynamic8'"),
              StartsWith("plan.toml:7: scaling aps is for"));
}

TEST(APlanFile, ThatIsNoTomlNamesTheLine) {
  EXPECT_THAT(refusal("group = 2\ngroup = 3"), StartsWith("plan.toml:2: "));
  EXPECT_THAT(refusal("\n\n= 3"), StartsWith("plan.toml:3: "));
  EXPECT_THAT(refusal("key_file = 'a"), StartsWith("plan.toml:1: "));
}

TEST(APlanFile, WithLineBreaksInAValueIsAnsweredInOneLine) {
  EXPECT_THAT(refusal("algorithm = \"ri\\nng\""), HasSubstr("ri\\u000Ang"));
  EXPECT_THAT(refusal("errors = \"dyn\\namic\""), HasSubstr("dyn\\u000Aamic"));
}

TEST(APlanFile, ThatCannotBeReadSaysSo) {
  for (const char* name : {"there/is/no.toml", "/"}) {
    try {
      read_plan(name);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::system);
      EXPECT_THAT(error.what(), HasSubstr(name));
    }
  }
}

TEST(APlanFile, IsNamedInItsMistakes) {
  const auto file = std::filesystem::path(testing::TempDir()) / "narrowcast_plan_test.toml";
  std::ofstream(file) << "group = 2\n";
  EXPECT_EQ(read_plan(file).group, 2);
  std::ofstream(file) << "group = -2\n";
  try {
    read_plan(file);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), StartsWith(file.string() + ":1: group is"));
  }
  std::filesystem::remove(file);
}

TEST(APlainKey, IsSetFromText) {
  Plan plan;
  set_key(plan, "algorithm", "ring", "--algorithm");
  set_key(plan, "fusion", "1MiB", "NARROWCAST_PLAN_FUSION");
  EXPECT_EQ(plan.algorithm, "ring");
  EXPECT_EQ(plan.fusion_bytes, 1u << 20);
}

TEST(APlainKey, ThatDoesNotFitLeavesThePlanAndNamesItsOrigin) {
  Plan plan;
  for (const std::string_view key : plan_keys()) {
    try {
      set_key(plan, key, "\xff", "--" + std::string(key));
      ADD_FAILURE() << key;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage);
      EXPECT_THAT(error.what(), StartsWith("--" + std::string(key) + ": "));
    }
  }
  EXPECT_EQ(plan, Plan{});
  EXPECT_THROW(set_key(plan, "rule", "x", "--rule"), Error);
}

}  // namespace
}  // namespace narrowcast::test
