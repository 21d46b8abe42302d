// Any text as a plan, a profile, a study, a record of one, JSON or a value of TOML: refused as such or read, and what
// was read is written and read the same again.
//
//   input:   u8 which reader | the text
#include "base/json.hpp"
#include "plan/toml.hpp"
#include "predict/profile.hpp"
#include "study/study.hpp"
#include "tests/fuzz/support/allowed.hpp"

namespace {

using namespace narrowcast;
using fuzz::text_of;

void plan(Bytes bytes) {
  const Plan read = parse_plan(text_of(bytes), "plan.toml");
  if (parse_plan(to_toml(read), "again") != read) abort();
}

void profile(Bytes bytes) {
  const Profile read = parse_profile(text_of(bytes), "profile.toml");
  if (parse_profile(to_toml(read), "again") != read) abort();
}

void study(Bytes bytes) { parse_study(text_of(bytes), "study.toml"); }

void record(Bytes bytes) {
  const CellRecord read = record_of_json(text_of(bytes));
  if (to_json(record_of_json(to_json(read))) != to_json(read)) abort();
}

void json(Bytes bytes) { parse_json(text_of(bytes)); }
void value(Bytes bytes) { parse_toml_value(text_of(bytes), "--set"); }

constexpr fuzz::Allowance kToml{fuzz::kMega, 4 * fuzz::kKilo};
constexpr fuzz::Allowance kJson{256 * fuzz::kKilo, fuzz::kKilo};

const fuzz::Reader kReaders[] = {
    {plan, {Fault::usage}, kToml},
    {profile, {Fault::usage}, kToml},
    // A few words may be a matrix of many cells, up to a limit.
    {study, {Fault::usage}, {256 * fuzz::kMega, 4 * fuzz::kKilo}},
    {record, {Fault::wire}, kJson},
    {json, {Fault::wire}, kJson},
    {value, {Fault::usage}, kToml},
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::hand_over(kReaders, fuzz::bytes_of(data, size));
}
