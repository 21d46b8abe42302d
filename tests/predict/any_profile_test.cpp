#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "predict/parts/profile_keys.hpp"
#include "tests/support/any_text.hpp"

// Profiles of any content come back from their text; any text is a profile or an Error of one line.
namespace narrowcast::test {
namespace {

using rc::gen::elementOf;
using rc::gen::inRange;

std::string any_text() {
  return "x" + *rc::gen::container<std::string>(
                   elementOf(std::string("ab.*?_ \"'\\#=[]{},\n\t\r\x01\x7f")));
}

// All 53 bits of it, over the whole range and over the range of its logarithm.
double any_number(const Range& range) {
  const double part = static_cast<double>(*inRange<std::uint64_t>(0, std::uint64_t{1} << 53)) /
                      static_cast<double>(std::uint64_t{1} << 53);
  const double value = range.least + part * (range.most - range.least);
  const double low = std::max(range.least, 1e-12);
  const double small = low * std::pow(range.most / low, part);
  return std::min(*elementOf(std::vector<double>{range.least, value, small}), range.most);
}

void set_any(double& value, const Range& range) { value = any_number(range); }
void set_any(int& value, const Range& range) { value = static_cast<int>(any_number(range)); }
void set_any(bool& value, const Range&) { value = *rc::gen::arbitrary<bool>(); }
void set_any(std::string& value, const Range&) { value = any_text(); }

template <class Part, std::size_t n>
Part any_part(const std::array<ProfileKey<Part>, n>& keys) {
  Part part;
  for (const ProfileKey<Part>& key : keys)
    std::visit([&](auto member) { set_any(part.*member, key.range); }, key.member);
  return part;
}

MeasuredModel any_model(const std::string& name) {
  MeasuredModel model = any_part(kModelKeys);
  model.name = name;
  if (model.forward_ms + model.backward_ms == 0) model.forward_ms = 1;
  const std::size_t tensors = *inRange<std::size_t>(1, 4);
  for (std::size_t i = 0; i < tensors; ++i)
    model.tensors.push_back({std::to_string(i) + any_text(),
                             static_cast<std::size_t>(any_number(kElements)),
                             any_number({0, model.backward_ms})});
  std::ranges::sort(model.tensors, {}, &MeasuredTensor::ready_ms);
  return model;
}

Profile any_profile() {
  Profile profile = any_part(kProfileKeys);
  profile.network = any_part(kLinkKeys);
  if (profile.machine_workers > 1 || *rc::gen::arbitrary<bool>())
    profile.machine = any_part(kLinkKeys);
  if (*rc::gen::arbitrary<bool>()) profile.compute = any_part(kComputeKeys);
  for (const char* codec : {"*", "fp32", "dynamic8:block=64", "onebit:column=shape"})
    if (*rc::gen::arbitrary<bool>()) {
      profile.codecs.push_back(any_part(kCodecKeys));
      profile.codecs.back().codec = codec;
    }
  for (const char* name : {"a", "b\n\""})
    if (*rc::gen::arbitrary<bool>()) profile.models.push_back(any_model(name));
  return profile;
}

RC_GTEST_PROP(EveryProfile, ComesBackFromItsText, ()) {
  const Profile profile = any_profile();
  RC_ASSERT(parse_profile(to_toml(profile), "profile") == profile);
}

RC_GTEST_PROP(AnyProfile, WithAPieceCutDoubledOrOverwrittenIsAnswered, ()) {
  answered(parse_profile, damaged(to_toml(any_profile())));
}

}  // namespace
}  // namespace narrowcast::test
