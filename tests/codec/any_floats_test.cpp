#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>

#include "tests/support/catalogue.hpp"
#include "tests/support/check.hpp"
#include "tests/support/target_scope.hpp"

// Properties of every codec on whatever floats RapidCheck comes up with.
namespace narrowcast::test {
namespace {

rc::Gen<float> any_float() {
  return rc::gen::map(rc::gen::arbitrary<std::uint32_t>(),
                      [](std::uint32_t bits) { return std::bit_cast<float>(bits); });
}

rc::Gen<float> ordinary_float() {
  return rc::gen::map(rc::gen::inRange(-1'000'000, 1'000'000),
                      [](int i) { return static_cast<float>(i) / 65536.0f; });
}

rc::Gen<float> special_float() {
  return rc::gen::element(0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-45f, -1e-45f, 1.1754944e-38f,
                          3.4028235e38f, -3.4028235e38f, 1.0f, -1.0f);
}

rc::Gen<std::vector<float>> any_floats() {
  return rc::gen::container<std::vector<float>>(rc::gen::weightedOneOf<float>(
      {{6, ordinary_float()}, {3, any_float()}, {1, special_float()}}));
}

std::unique_ptr<Codec> any_codec() {
  const std::string spec = *rc::gen::elementOf(every_spec());
  RC_LOG() << spec << std::endl;
  return make_codec(spec);
}

std::vector<float> any_values_for(const Codec& codec) {
  std::vector<float> values = *any_floats();
  if (codec.promise().non_finite == NonFinite::refuses_nan)
    std::erase_if(values, [](float v) { return std::isnan(v); });
  return values;
}

Stream any_dice() { return stream_of({.seed = *rc::gen::arbitrary<std::uint64_t>()}); }

void require_true(const testing::AssertionResult& result) {
  if (!result) RC_FAIL(result.message());
}

RC_GTEST_PROP(AnyFloats, ComeBackAsPromised, ()) {
  const auto codec = any_codec();
  const std::vector<float> x = any_values_for(*codec);
  const std::vector<float> out = round_trip(*codec, x, {.stream = any_dice()});
  require_true(keeps_error_promise(*codec, x, out));
  require_true(keeps_non_finite_promise(*codec, x, out));
}

RC_GTEST_PROP(AnyFloats, AccumulateAsTheyDecode, ()) {
  const auto codec = any_codec();
  const std::vector<float> x = any_values_for(*codec);
  const int exponent = *rc::gen::inRange(-kMaxExponent, kMaxExponent + 1);
  const std::vector<std::byte> message = encoded(*codec, x, {.exponent = exponent});
  std::vector<float> expected = decoded(*codec, message, x.size(), exponent);
  std::vector<float> sum(x.size(), 0.75f);
  for (float& value : expected) value += 0.75f;
  codec->accumulate(message, sum, exponent);
  require_true(same_values(sum, expected));
}

RC_GTEST_PROP(AnyFloats, LeaveInTheResidualWhatWasLost, ()) {
  const auto codec = any_codec();
  const std::vector<float> x = any_values_for(*codec);
  std::vector<float> residual(x.size());
  const Encoding how{.stream = any_dice(), .residual = residual};
  std::vector<float> expected = round_trip(*codec, x, how);
  for (std::size_t i = 0; i < x.size(); ++i) {
    expected[i] = x[i] + 0.0f - expected[i];
    if (!std::isfinite(expected[i])) expected[i] = 0;
  }
  require_true(same_values(residual, expected));
}

RC_GTEST_PROP(AnyFloats, GiveTheSameBytesOnEveryTarget, ()) {
  const auto codec = any_codec();
  const std::vector<float> x = any_values_for(*codec);
  const Encoding how{.stream = any_dice(), .exponent = *rc::gen::inRange(-20, 20)};
  const std::vector<std::byte> expected = encoded(*codec, x, how);
  for (const std::string& target : cpu_targets()) {
    const TargetScope scope(target);
    require_true(same_bytes(encoded(*codec, x, how), expected));
  }
}

}  // namespace
}  // namespace narrowcast::test
