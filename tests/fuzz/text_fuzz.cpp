// Any text as a plan, a profile, a study, a record of one, JSON or a value of TOML: refused as such or read, and what
// was read is written and read the same again.
//
//   input:   u8 which reader | the text
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "plan/toml.hpp"
#include "predict/profile.hpp"
#include "study/study.hpp"
#include "tests/fuzz/allowed.hpp"

namespace {

using namespace narrowcast;
using Text = std::string_view;

void plan(Text text) {
  const Plan read = parse_plan(text, "plan.toml");
  if (parse_plan(to_toml(read), "again") != read) std::abort();
}

void profile(Text text) {
  const Profile read = parse_profile(text, "profile.toml");
  if (parse_profile(to_toml(read), "again") != read) std::abort();
}

void study(Text text) { parse_study(text, "study.toml"); }

void record(Text text) {
  const CellRecord read = record_of_json(text);
  if (to_json(record_of_json(to_json(read))) != to_json(read)) std::abort();
}

void json(Text text) { parse_json(text); }
void value(Text text) { parse_toml_value(text, "--set"); }

struct Reader {
  void (*read)(Text text);
  Fault refusal;
};
constexpr Reader kReaders[] = {{plan, Fault::usage},  {profile, Fault::usage},
                               {study, Fault::usage}, {record, Fault::wire},
                               {json, Fault::wire},   {value, Fault::usage}};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Reader& reader = kReaders[data[0] % std::size(kReaders)];
  const Text text(reinterpret_cast<const char*>(data) + 1, size - 1);
  narrowcast::fuzz::expect({reader.refusal}, [&] { reader.read(text); });
  return 0;
}
