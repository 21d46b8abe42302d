#include "predict/profile.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>

#include "codec/codec.hpp"
#include "plan/toml.hpp"
#include "plan/values.hpp"
#include "predict/parts/profile_keys.hpp"

namespace narrowcast {
namespace {

// Times that somebody wrote down are rounded to this.
constexpr double kRoundingMs = 1e-3;

// What a table is called in messages, and where it comes from.
struct Title {
  std::string_view what;
  std::string_view origin;
};

[[noreturn]] void refuse(const Title& title, const TomlTree& where, std::string_view why) {
  throw unfit(place(title.origin, where), why);
}

bool fits(double value, const Range& range) { return value >= range.least && value <= range.most; }

std::optional<double> quantity(std::string_view text, Units units) {
  double factor = 1;
  for (const Named<double>& unit : units)
    if (text.ends_with(unit.name)) {
      factor = unit.value;
      text.remove_suffix(unit.name.size());
      break;
    }
  const std::optional<double> number = real_of(text);
  return number ? std::optional(*number * factor) : std::nullopt;
}

bool set_value(double& target, std::string_view text, const Range& range, Units units) {
  const std::optional<double> value = quantity(text, units);
  if (!value || !fits(*value, range)) return false;
  target = *value;
  return true;
}

bool set_value(int& target, std::string_view text, const Range& range, Units) {
  const std::optional<std::uint64_t> value = whole_of(text);
  if (!value || !fits(static_cast<double>(*value), range)) return false;
  target = static_cast<int>(*value);
  return true;
}

bool set_value(bool& target, std::string_view text, const Range&, Units) {
  const std::optional<bool> value = truth_of(text);
  if (!value) return false;
  target = *value;
  return true;
}

bool set_value(std::string& target, std::string_view text, const Range&, Units) {
  target = text;
  return true;
}

template <class Part>
std::string fitting(const ProfileKey<Part>& key) {
  if (key.range.most == 0) return std::string(key.unit);
  return fmt::format("{} from {} to {}", key.unit, key.range.least, key.range.most);
}

template <class Part>
void read_key(Part& part, const TomlTree& item, const ProfileKey<Part>& key, const Title& title) {
  if (item.kind != TomlKind::scalar)
    refuse(title, item, fmt::format("{} of {} is one value", key.name, title.what));
  const bool empty = item.text.empty() && key.need == Need::required;
  const bool good = !empty && std::visit(
                                  [&](auto member) {
                                    return set_value(part.*member, item.text, key.range, key.units);
                                  },
                                  key.member);
  if (!good)
    refuse(title, item,
           fmt::format("{} of {} is {}, not '{}'", key.name, title.what, fitting(key), item.text));
}

const TomlTree* find(const TomlTree& table, std::string_view key) {
  const auto at = std::ranges::find(table.keys, key);
  return at == table.keys.end() ? nullptr : &table.items[at - table.keys.begin()];
}

// Those of `others` are left for the caller.
template <class Part, std::size_t n>
void read_keys(Part& part, const TomlTree& table, const std::array<ProfileKey<Part>, n>& keys,
               const Title& title, std::span<const std::string_view> others = {}) {
  if (table.kind != TomlKind::table) refuse(title, table, fmt::format("{} is a table", title.what));
  for (std::size_t i = 0; i < table.keys.size(); ++i) {
    const std::string& name = table.keys[i];
    const auto key = std::ranges::find(keys, name, &ProfileKey<Part>::name);
    if (key != keys.end()) {
      read_key(part, table.items[i], *key, title);
    } else if (std::ranges::find(others, name) == others.end()) {
      std::vector<std::string_view> known(others.begin(), others.end());
      for (const ProfileKey<Part>& each : keys) known.push_back(each.name);
      refuse(title, table.items[i],
             fmt::format("unknown key '{}' of {}; {}", name, title.what, instead_of(name, known)));
    }
  }
  for (const ProfileKey<Part>& key : keys)
    if (key.need == Need::required && find(table, key.name) == nullptr)
      refuse(title, table, fmt::format("{} needs {}", title.what, key.name));
}

MeasuredTensor read_tensor(const TomlTree& item, const Title& title) {
  const auto scalar = [](const TomlTree& each) { return each.kind == TomlKind::scalar; };
  if (item.kind != TomlKind::array || item.items.size() != 3 ||
      !std::ranges::all_of(item.items, scalar) || item.items[0].text.empty())
    refuse(title, item, "each of tensors is [\"name\", elements, ready_ms]");
  const std::string& name = item.items[0].text;
  const auto unfit_value = [&](std::string_view key, const Range& range, const TomlTree& value) {
    refuse(title, value,
           fmt::format("{} of '{}' in tensors is a {}number from {} to {}, not '{}'", key, name,
                       key == "elements" ? "whole " : "", range.least, range.most, value.text));
  };
  MeasuredTensor tensor{.name = name};
  const std::optional<std::uint64_t> elements = whole_of(item.items[1].text);
  if (!elements || !fits(static_cast<double>(*elements), kElements))
    unfit_value("elements", kElements, item.items[1]);
  tensor.elements = *elements;
  if (!set_value(tensor.ready_ms, item.items[2].text, kMilliseconds, {}))
    unfit_value("ready_ms", kMilliseconds, item.items[2]);
  return tensor;
}

void read_tensors(MeasuredModel& model, const TomlTree& list, const Title& title) {
  if (list.kind != TomlKind::array)
    refuse(title, list, "tensors is a list of [\"name\", elements, ready_ms]");
  std::set<std::string> names;
  for (const TomlTree& item : list.items) {
    const MeasuredTensor tensor = read_tensor(item, title);
    if (!names.insert(tensor.name).second)
      refuse(title, item, fmt::format("'{}' is twice in tensors", tensor.name));
    if (!model.tensors.empty() && tensor.ready_ms < model.tensors.back().ready_ms)
      refuse(title, item,
             fmt::format("ready_ms of tensors ascends: '{}' with {} comes after {}", tensor.name,
                         tensor.ready_ms, model.tensors.back().ready_ms));
    if (tensor.ready_ms > model.backward_ms + kRoundingMs)
      refuse(title, item,
             fmt::format("ready_ms of '{}' in tensors is {}, after the end of back-propagation: "
                         "backward_ms is {}",
                         tensor.name, tensor.ready_ms, model.backward_ms));
    model.tensors.push_back(tensor);
  }
  if (model.tensors.empty()) refuse(title, list, "tensors has at least one");
  if (model.forward_ms + model.backward_ms <= 0)
    refuse(title, list, "forward_ms and backward_ms are both 0, which no network takes");
}

constexpr std::array<std::string_view, 1> kTensors{"tensors"};

void read_model(Profile& profile, const TomlTree& table, std::string_view origin) {
  const Title title{"[[model]]", origin};
  MeasuredModel model;
  read_keys(model, table, kModelKeys, title, kTensors);
  if (std::ranges::find(profile.models, model.name, &MeasuredModel::name) != profile.models.end())
    refuse(title, *find(table, "name"),
           fmt::format("name '{}' has a [[model]] already", model.name));
  const TomlTree* tensors = find(table, "tensors");
  if (tensors == nullptr) refuse(title, table, "[[model]] needs tensors");
  read_tensors(model, *tensors, title);
  profile.models.push_back(std::move(model));
}

// "*" is one for itself.
std::string codec_of(const std::string& spec, const TomlTree& where, const Title& title) {
  if (spec == "*") return spec;
  try {
    return canonical_codec(spec);
  } catch (const Error& error) {
    refuse(title, where, fmt::format("codec: {}", error.what()));
  }
}

void read_codec(Profile& profile, const TomlTree& table, std::string_view origin) {
  const Title title{"[[codec]]", origin};
  CodecSpeed speed;
  read_keys(speed, table, kCodecKeys, title);
  const TomlTree& where = *find(table, "codec");
  const std::string codec = codec_of(speed.codec, where, title);
  for (const CodecSpeed& other : profile.codecs)
    if (codec_of(other.codec, where, title) == codec)
      refuse(title, where,
             fmt::format("codec '{}' has a [[codec]] already: '{}'", speed.codec, other.codec));
  profile.codecs.push_back(std::move(speed));
}

// What [[name]] makes.
const std::vector<TomlTree>& tables(const TomlTree& list, std::string_view name,
                                    std::string_view origin) {
  if (list.kind != TomlKind::array)
    throw unfit(place(origin, list),
                fmt::format("{0} is a list of tables, each of them [[{0}]]", name));
  return list.items;
}

// Keys at the top that are no fields of a profile.
constexpr std::array<std::string_view, 6> kOthers{"machine", "network", "codec",
                                                  "compute", "model",   kVersionKey};

void read_table(Profile& profile, std::string_view name, const TomlTree& item,
                std::string_view origin) {
  if (name == "machine") read_keys(profile.machine, item, kLinkKeys, {"[machine]", origin});
  if (name == "network") read_keys(profile.network, item, kLinkKeys, {"[network]", origin});
  if (name == "compute") read_keys(profile.compute, item, kComputeKeys, {"[compute]", origin});
  if (name == "codec")
    for (const TomlTree& each : tables(item, name, origin)) read_codec(profile, each, origin);
  if (name == "model")
    for (const TomlTree& each : tables(item, name, origin)) read_model(profile, each, origin);
}

}  // namespace

std::string canonical_codec(std::string_view spec) {
  // Tensors bring their own shape; this is the usual column.
  return make_codec(spec, {.innermost = 64})->spec();
}

Profile parse_profile(std::string_view toml, std::string_view origin) {
  const TomlTree tree = parse_toml(toml, origin);
  const Title title{"a profile", origin};
  Profile profile;
  check_version(tree, "a profile", origin);
  read_keys(profile, tree, kProfileKeys, title, kOthers);
  for (std::size_t i = 0; i < tree.keys.size(); ++i)
    read_table(profile, tree.keys[i], tree.items[i], origin);
  if (find(tree, "network") == nullptr) refuse(title, tree, "a profile needs [network]");
  if (profile.machine_workers > 1 && find(tree, "machine") == nullptr)
    refuse(title, *find(tree, "machine_workers"),
           "machine_workers above 1 needs [machine], the link between them");
  return profile;
}

}  // namespace narrowcast
