#include "tests/plan/refusal.hpp"

#include "base/error.hpp"

namespace narrowcast::test {

std::string refusal(std::string_view toml) {
  try {
    const Plan plan = parse_plan(toml, "plan.toml");
    ADD_FAILURE() << "was taken: " << toml << "\nas: " << to_toml(plan);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage) << toml;
    EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << error.what();
    return error.what();
  }
  return {};
}

}  // namespace narrowcast::test
