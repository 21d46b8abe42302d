#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "plan/toml.hpp"
#include "plan/values.hpp"
#include "run/run.hpp"
#include "run/settings/checks.hpp"
#include "run/settings/fields.hpp"
#include "run/settings/keys.hpp"

namespace narrowcast {
namespace {

constexpr std::string_view kPlan = "plan.";

const std::vector<std::string>& key_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const RunKey& row : run_key_rows()) names.emplace_back(row.name);
    for (const char* name :
         {"codec", "scaling", "feedback", "plan", "plan.rule", "plan.activations", "plan.errors"})
      names.emplace_back(name);
    for (const std::string_view key : plan_keys()) names.push_back(std::string(kPlan) += key);
    return names;
  }();
  return kNames;
}

// The settings `codec`, `scaling` and `feedback`: one way for every tensor.
struct OneWay {
  const Setting* codec = nullptr;
  const Setting* scaling = nullptr;
  const Setting* feedback = nullptr;
};

class Resolution {
 public:
  explicit Resolution(std::span<const Setting> settings) : settings_(settings) {}

  Run run() {
    for (const Setting& setting : settings_) check_key(setting);
    begin();
    for (const Setting& setting : settings_) apply(setting);
    apply_one_way();
    check_run(run_, origins_);
    return std::move(run_);
  }

 private:
  static void check_key(const Setting& setting) {
    const std::span<const std::string_view> known = run_keys();
    if (std::ranges::find(known, setting.key) == known.end())
      throw unfit(setting.origin,
                  fmt::format("unknown key '{}'; {}", setting.key, instead_of(setting.key, known)));
    if (!is_utf8(setting.value))
      throw unfit(setting.origin, fmt::format("{} is text in UTF-8", setting.key));
  }

  static Error misfit(const Setting& setting, std::string_view fits) {
    return unfit(setting.origin,
                 fmt::format("{} is {}, not '{}'", setting.key, fits, setting.value));
  }

  const Setting* last(std::string_view key) const {
    const Setting* found = nullptr;
    for (const Setting& setting : settings_)
      if (setting.key == key) found = &setting;
    return found;
  }

  // What the others are laid over.
  void begin() {
    const Setting* net = last("net");
    const Setting* setup = last("setup");
    if (net != nullptr) explained(*net, [&] { network_row(net->value); });
    if (setup != nullptr && !setup->value.empty())
      explained(*setup, [&] { recipe_of(setup->value).apply(run_); });
    else
      recipe_of(net == nullptr ? run_.net : net->value).apply(run_);
    begin_optimiser();
    begin_schedule();
  }

  // Rates and decays of a recipe are of its own optimiser and mean nothing for another.
  void begin_optimiser() {
    const Setting* name = last("optimiser.name");
    if (name == nullptr || name->value == run_.optimiser.name) return;
    run_.optimiser = {};
    if (name->value == "rmsprop" || name->value == "adam") run_.optimiser.rate = 0.001;
    if (name->value == "lars") run_.optimiser.momentum = 0.9;
  }

  // So with its shape; a warm-up goes with any.
  void begin_schedule() {
    const Setting* shape = last("schedule.shape");
    if (shape == nullptr || shape->value == run_.schedule.shape) return;
    run_.schedule = {.warm_up = run_.schedule.warm_up, .warm_from = run_.schedule.warm_from};
  }

  template <class Call>
  static void explained(const Setting& setting, Call call) {
    try {
      call();
    } catch (const Error& error) {
      throw unfit(setting.origin, error.what());
    }
  }

  void apply(const Setting& setting) {
    origins_[setting.key] = setting.origin;
    if (setting.key == "codec") {
      one_way_.codec = &setting;
    } else if (setting.key == "scaling") {
      one_way_.scaling = &setting;
    } else if (setting.key == "feedback") {
      one_way_.feedback = &setting;
    } else if (setting.key == "plan") {
      take_plan(setting);
    } else if (setting.key.starts_with(kPlan)) {
      apply_to_plan(setting);
    } else {
      const auto row = std::ranges::find(run_key_rows(), setting.key, &RunKey::name);
      if (!row->set(run_, setting.value)) throw misfit(setting, row->fits);
    }
  }

  void take_plan(const Setting& setting) {
    if (setting.value.empty()) throw unfit(setting.origin, "plan is the name of a file");
    run_.plan = read_plan(setting.value);
    one_way_ = {};
  }

  void apply_to_plan(const Setting& setting) {
    const std::string key = setting.key.substr(kPlan.size());
    const std::span<const std::string_view> plain = plan_keys();
    if (std::ranges::find(plain, key) != plain.end())
      return set_key(run_.plan, key, setting.value, setting.origin);
    TomlTree table{.keys = {key}, .items = {parse_toml_value(setting.value, setting.origin)}};
    read_into(run_.plan, table, setting.origin);
    if (key == "rule") one_way_ = {};
  }

  // `codec` and its like are the last word on rules that came before them.
  void apply_one_way() {
    const auto& [codec, scaling, feedback] = one_way_;
    if (codec == nullptr) {
      for (const Setting* setting : {scaling, feedback})
        if (setting != nullptr)
          throw unfit(
              setting->origin,
              fmt::format("{} goes with codec; rules of a plan have their own", setting->key));
      return;
    }
    const Way way = way_of_all();
    run_.plan.rules = plan_for(way).rules;
    if (run_.parallel == Parallel::data) return;
    const Way link{.codec = way.codec};  // scaling is for sums of gradients
    if (is_after(*codec, last("plan.activations"))) run_.plan.activations = link;
    if (is_after(*codec, last("plan.errors"))) run_.plan.errors = link;
  }

  Way way_of_all() const {
    const auto& [codec, scaling, feedback] = one_way_;
    Way way = usual_way(codec->value);
    bool feed_back = way.feedback == Feedback::on;
    if (scaling != nullptr) {
      const std::optional<Scaling> named = scaling_of(scaling->value);
      if (!named) throw misfit(*scaling, "one of none, aps, aps-tight");
      way.scaling = *named;
    }
    if (feedback != nullptr && !field::put(feed_back, feedback->value))
      throw misfit(*feedback, "true or false");
    way.feedback = feed_back ? Feedback::on : Feedback::off;
    check_way(way, codec->origin);
    return way;
  }

  static bool is_after(const Setting& one, const Setting* other) {
    return other == nullptr || &one > other;
  }

  std::span<const Setting> settings_;
  Run run_ = {};
  Origins origins_ = {};
  OneWay one_way_ = {};
};

}  // namespace

std::span<const std::string_view> run_keys() {
  static const std::vector<std::string_view> kKeys(key_names().begin(), key_names().end());
  return kKeys;
}

Run resolve_run(std::span<const Setting> settings) { return Resolution(settings).run(); }

}  // namespace narrowcast
