#include "cli/arguments.hpp"

// The only file that compiles CLI11, which takes longer than all commands together.
#include <CLI/CLI.hpp>
#include <algorithm>

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

template <typename Place>
void add_option(CLI::App& app, std::string_view usage, Place& to, std::string_view help) {
  const std::size_t blank = usage.find(' ');
  require(blank != std::string_view::npos, Fault::usage,
          "an option is declared without what it takes");
  app.add_option(std::string(usage.substr(0, blank)), to, std::string(help))
      ->type_name(std::string(usage.substr(blank + 1)));
}

[[noreturn]] void refuse_extra(const CLI::App& app) {
  const std::vector<std::string> extra = app.remaining();
  const auto option =
      std::ranges::find_if(extra, [](const std::string& word) { return word.starts_with("-"); });
  if (option == extra.end())
    throw Error(Fault::usage, "'" + extra.front() + "' is one word too many");
  std::vector<std::string> known;
  for (const CLI::Option* each : app.get_options())
    for (const std::string& name : each->get_lnames()) known.push_back("--" + name);
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
  add_option(*app_, usage, to, help);
}

void Arguments::option(std::string_view usage, int& to, std::string_view help) {
  add_option(*app_, usage, to, help);
}

void Arguments::option(std::string_view usage, double& to, std::string_view help) {
  add_option(*app_, usage, to, help);
}

void Arguments::flag(std::string_view name, bool& to, std::string_view help) {
  app_->add_flag(std::string(name), to, std::string(help));
}

bool Arguments::parse(std::span<const std::string> given) {
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

}  // namespace narrowcast::cli
