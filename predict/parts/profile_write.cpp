#include <fmt/core.h>

#include "plan/toml.hpp"
#include "plan/values.hpp"
#include "predict/parts/profile_keys.hpp"
#include "predict/profile.hpp"

namespace narrowcast {
namespace {

std::string value_text(double value) { return text_of(value); }
std::string value_text(int value) { return std::to_string(value); }
std::string value_text(bool value) { return std::string(text_of(value)); }
std::string value_text(const std::string& value) { return in_quotes(value); }

template <class Part, std::size_t n>
std::string keys_text(const Part& part, const std::array<ProfileKey<Part>, n>& keys) {
  std::string out;
  for (const ProfileKey<Part>& key : keys)
    out +=
        fmt::format("{} = {}\n", key.name,
                    std::visit([&](auto member) { return value_text(part.*member); }, key.member));
  return out;
}

std::string tensors_text(const MeasuredModel& model) {
  std::string out = "tensors = [\n";
  for (const MeasuredTensor& tensor : model.tensors)
    out += fmt::format("  [{}, {}, {}],\n", in_quotes(tensor.name), tensor.elements,
                       text_of(tensor.ready_ms));
  return out + "]\n";
}

}  // namespace

std::string to_toml(const Profile& profile) {
  std::string out = fmt::format("{} = {}\n", kVersionKey, kTomlVersion);
  out += keys_text(profile, kProfileKeys);
  // Machines of one worker may have none.
  if (profile.machine != LinkProfile{})
    out += "\n[machine]\n" + keys_text(profile.machine, kLinkKeys);
  out += "\n[network]\n" + keys_text(profile.network, kLinkKeys);
  for (const CodecSpeed& codec : profile.codecs)
    out += "\n[[codec]]\n" + keys_text(codec, kCodecKeys);
  if (profile.compute != ComputeProfile{})
    out += "\n[compute]\n" + keys_text(profile.compute, kComputeKeys);
  for (const MeasuredModel& model : profile.models)
    out += "\n[[model]]\n" + keys_text(model, kModelKeys) + tensors_text(model);
  return out;
}

}  // namespace narrowcast
