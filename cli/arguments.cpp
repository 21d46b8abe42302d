#include "cli/arguments.hpp"

// The only file that compiles CLI11, which takes longer than all commands together.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "cli/nearest.hpp"

namespace narrowcast::cli {
namespace {

// Help has this many columns for names.
constexpr std::size_t kNameColumns = 32;

template <typename Place>
CLI::Option* add_word(CLI::App& app, std::string_view name, Place& to, std::string_view help) {
  return app.add_option(std::string(name), to, std::string(help))->type_name("");
}

// "--seed N" or "-o,--output FILE" in its parts.
struct Usage {
  std::string names;
  std::string takes;
};

Usage usage_of(std::string_view text) {
  const std::size_t blank = text.find(' ');
  require(blank != std::string_view::npos, Fault::usage,
          "an option is declared without what it takes");
  return {std::string(text.substr(0, blank)), std::string(text.substr(blank + 1))};
}

// CLI11 converts nothing: its errors have words of their own, and to it an empty word is none.
template <typename Store>
void add_option(CLI::App& app, std::string_view usage, std::string_view help, Store store) {
  const auto [names, takes] = usage_of(usage);
  const std::string name = names.substr(names.find("--"));
  const auto checked = [=, takes = takes](const std::string& text) {
    if (text.empty())
      throw Error(Fault::usage, "option " + name + " takes " + takes + ", not an empty word");
    store(name, text);
  };
  app.add_option_function<std::string>(names, checked, std::string(help))->type_name(takes);
}

template <typename Number>
void add_number(CLI::App& app, std::string_view usage, std::string_view help, Number& to) {
  add_option(app, usage, help, [&to](const std::string& name, const std::string& text) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, to);
    if (error != std::errc{} || stop != end)
      throw Error(Fault::usage, "option " + name + " takes a number, not '" + text + "'");
  });
}

// The option that takes a value and that this word starts with, as in "--seed", "--seed=7", "-o".
const CLI::Option* option_in(const CLI::App& app, const std::string& word) {
  const std::string name = word.substr(0, word.starts_with("--") ? word.find('=') : 2);
  const CLI::Option* option = app.get_option_no_throw(name);
  const bool takes = option != nullptr && word.starts_with("-") && option->get_expected_min() > 0;
  return takes ? option : nullptr;
}

std::string name_of(const CLI::Option& option) { return "--" + option.get_lnames().front(); }

void refuse_repeated(const CLI::App& app, std::span<const std::string> given) {
  std::vector<const CLI::Option*> seen;
  for (const std::string& word : given) {
    if (word == "--") return;  // words alone from here on
    const CLI::Option* option = option_in(app, word);
    if (option == nullptr || option->get_items_expected_max() > 1) continue;
    if (std::ranges::find(seen, option) != seen.end())
      throw Error(Fault::usage, "option " + name_of(*option) + " is given twice");
    seen.push_back(option);
  }
}

// Whether the next word can be the value of an option, as "-1" can and "--json" cannot.
bool is_value(const CLI::App& app, std::span<const std::string> rest) {
  if (rest.empty() || rest[0] == "--") return false;
  return !rest[0].starts_with("-") || app.get_option_no_throw(rest[0]) == nullptr;
}

// An option is without its value before another one and at the end; CLI11 would take the other
// one for the value.
void refuse_lonely(const CLI::App& app, std::span<const std::string> given) {
  for (std::size_t i = 0; i < given.size() && given[i] != "--"; ++i) {
    const CLI::Option* option = option_in(app, given[i]);
    if (option == nullptr) continue;
    const bool apart = app.get_option_no_throw(given[i]) == option;
    if ((apart && !is_value(app, given.subspan(i + 1))) || given[i] == name_of(*option) + "=")
      throw Error(Fault::usage,
                  "option " + name_of(*option) + " needs a value: " + option->get_type_name());
  }
}

std::vector<std::string> names_of_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* each : app.get_options())
    for (const std::string& name : each->get_lnames()) names.push_back("--" + name);
  return names;
}

[[noreturn]] void refuse_extra(const CLI::App& app) {
  const std::vector<std::string> extra = app.remaining();
  const auto option =
      std::ranges::find_if(extra, [](const std::string& word) { return word.starts_with("-"); });
  if (option == extra.end())
    throw Error(Fault::usage, "'" + extra.front() + "' is one word too many");
  const std::vector<std::string> known = names_of_options(app);
  throw Error(Fault::usage, "unknown option '" + *option + "'" +
                                advice(*option, known, app.get_name() + " --help"));
}

}  // namespace

Arguments::Arguments(const std::string& command, const std::string& about)
    : app_(std::make_unique<CLI::App>(about, command)) {
  app_->get_formatter()->column_width(kNameColumns);
  app_->allow_extras();  // to name them ourselves
}

Arguments::~Arguments() = default;

void Arguments::word(std::string_view name, std::string& to, std::string_view help) {
  add_word(*app_, name, to, help)->required();
}

void Arguments::optional_word(std::string_view name, std::string& to, std::string_view help) {
  add_word(*app_, name, to, help);
}

void Arguments::words(std::string_view name, std::vector<std::string>& to, std::string_view help) {
  add_word(*app_, name, to, help);
}

void Arguments::option(std::string_view usage, std::string& to, std::string_view help) {
  add_option(*app_, usage, help, [&to](const std::string&, const std::string& text) { to = text; });
}

void Arguments::option(std::string_view usage, std::optional<std::string>& to,
                       std::string_view help) {
  add_option(*app_, usage, help, [&to](const std::string&, const std::string& text) { to = text; });
}

void Arguments::option(std::string_view usage, int& to, std::string_view help) {
  add_number(*app_, usage, help, to);
}

void Arguments::option(std::string_view usage, double& to, std::string_view help) {
  add_number(*app_, usage, help, to);
}

void Arguments::option(std::string_view usage, std::vector<std::string>& to,
                       std::string_view help) {
  const auto [names, takes] = usage_of(usage);
  app_->add_option(names, to, std::string(help))->type_name(takes)->allow_extra_args(false);
}

void Arguments::flag(std::string_view name, bool& to, std::string_view help) {
  app_->add_flag(std::string(name), to, std::string(help));
}

bool Arguments::parse(std::span<const std::string> given) {
  refuse_repeated(*app_, given);
  refuse_lonely(*app_, given);
  std::vector<std::string> reversed(given.rbegin(), given.rend());
  try {
    app_->parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return false;
  } catch (const CLI::ParseError& error) {
    // A misspelt option may be why something else seems to be missing.
    if (app_->remaining_size() > 0) refuse_extra(*app_);
    throw Error(Fault::usage,
                std::string(error.what()) + "; see '" + app_->get_name() + " --help'");
  }
  if (app_->remaining_size() > 0) refuse_extra(*app_);
  return true;
}

std::string Arguments::help() const { return app_->help(); }

std::vector<std::string> Arguments::names_of_words() const {
  std::vector<std::string> names;
  for (const CLI::Option* each : app_->get_options())
    if (each->get_positional()) names.push_back(each->get_name(true));
  return names;
}

std::vector<std::string> Arguments::options() const { return names_of_options(*app_); }

std::vector<std::string> Arguments::options_with_values() const {
  std::vector<std::string> names;
  for (const CLI::Option* each : app_->get_options()) {
    if (each->get_items_expected_max() == 0) continue;  // a flag
    for (const std::string& name : each->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : each->get_snames()) names.push_back("-" + name);
  }
  return names;
}

}  // namespace narrowcast::cli
