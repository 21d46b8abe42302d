// Files of the present version, of earlier ones, and of one that is yet to come: tests/golden/formats.
#include <gmock/gmock.h>

#include "base/version.hpp"
#include "data/data.hpp"
#include "plan/toml.hpp"
#include "predict/profile.hpp"
#include "run/run.hpp"
#include "study/cell.hpp"
#include "study/folder.hpp"
#include "study/records.hpp"
#include "study/study.hpp"
#include "tests/support/fault_text.hpp"
#include "tests/support/places.hpp"

namespace narrowcast::test {
namespace {

using testing::HasSubstr;

std::filesystem::path file(const std::string& name) { return golden_folder() / "formats" / name; }

// A reader, and what it makes of a file as text that can be compared.
struct Format {
  std::string name;  // of the files, without their endings
  std::string ending;
  std::string (*read)(const std::filesystem::path& file);
  std::string refusal;  // of the file that is yet to come; {} stands for this version
};

std::string plan_text(const std::filesystem::path& at) { return to_toml(read_plan(at)); }
std::string profile_text(const std::filesystem::path& at) {
  return to_toml(parse_profile(read_text(at), at.string()));
}
std::string study_text(const std::filesystem::path& at) {
  std::string ids;
  for (const Cell& cell : read_study(at, StudyUse::read).cells) ids += id_of(cell) + "\n";
  return ids;
}
std::string settings_text(const std::filesystem::path& at) {
  return to_toml(resolve_run(read_settings(at)));
}
std::string record_text(const std::filesystem::path& at) {
  std::string lines;
  for (const CellRecord& record : read_records(at)) lines += to_json(record);
  return lines;
}
std::string run_text(const std::filesystem::path& at) {
  const RunRecord run = read_run(at);
  return run.net + " " + run.replica_hash + " " +
         std::to_string(run.epochs.at(0).test_error.value());
}

const std::vector<Format>& formats() {
  static const std::string reads = "; narrowcast " + std::string(version()) + " reads ";
  static const std::vector<Format> all = {
      {"plan", ".toml", plan_text, "a plan of version \"2\"" + reads + "version 1"},
      {"profile", ".toml", profile_text, "a profile of version \"2\"" + reads + "version 1"},
      {"study", ".toml", study_text, "a study of version \"2\"" + reads + "version 1"},
      {"run", ".toml", settings_text, "a run of version \"2\"" + reads + "version 1"},
      {"record", ".jsonl", record_text, "this is of format 2" + reads + "format 1"},
      {"run", ".jsonl", run_text, "this is of format 2" + reads + "format 1"},
  };
  return all;
}

TEST(EveryFormat, OfThisVersionIsRead) {
  for (const Format& format : formats())
    EXPECT_NE("", format.read(file(format.name + format.ending))) << format.name;
}

TEST(EveryFormat, FromBeforeItHadAVersionIsReadTheSame) {
  for (const Format& format : formats())
    EXPECT_EQ(format.read(file(format.name + format.ending)),
              format.read(file(format.name + ".before" + format.ending)))
        << format.name;
}

TEST(EveryFormat, ThatIsYetToComeIsRefusedAndBothVersionsAreNamed) {
  for (const Format& format : formats())
    EXPECT_THAT(fault_text([&] { format.read(file(format.name + ".next" + format.ending)); }),
                HasSubstr(format.refusal))
        << format.name;
}

// Those that we write ourselves.
TEST(EveryFormat, IsWrittenAsItWas) {
  EXPECT_EQ(read_text(file("plan.toml")), plan_text(file("plan.toml")));
  EXPECT_EQ(read_text(file("profile.toml")), profile_text(file("profile.toml")));
  EXPECT_EQ(read_text(file("record.jsonl")), record_text(file("record.jsonl")));
}

TEST(EveryFormat, OfPacksIsReadOrRefused) {
  const DataSet set = open_data({.what = file("images.pack").string()});
  EXPECT_EQ(2u, set.train->size());
  EXPECT_EQ(2u, set.test->size());
  set.train->check();
  set.test->check();
  EXPECT_THAT(fault_text([] { open_data({.what = file("images.next.pack").string()}); }),
              HasSubstr("it is of version 2; 1 can be read"));
}

}  // namespace
}  // namespace narrowcast::test
