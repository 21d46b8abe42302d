#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace narrowcast::cli {

// The words that a command takes after its name. Each is declared with the place that it is stored
// in, which holds the default until then and must outlive parse().
//
// An option is written as its help shows it: "--seed N", or "-o,--output FILE".
class Arguments {
 public:
  // `about` is what the help starts with.
  Arguments(const std::string& command, const std::string& about);
  ~Arguments();
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  // Words without an option before them belong to these, in the order of declaration.
  void word(std::string_view name, std::string& to, std::string_view help);
  void optional_word(std::string_view name, std::string& to, std::string_view help);
  void words(std::string_view name, std::vector<std::string>& to, std::string_view help);

  void option(std::string_view usage, std::string& to, std::string_view help);
  // Stays empty unless it is given.
  void option(std::string_view usage, std::optional<std::string>& to, std::string_view help);
  void option(std::string_view usage, int& to, std::string_view help);
  void option(std::string_view usage, double& to, std::string_view help);
  // May be given several times, with one value each.
  void option(std::string_view usage, std::vector<std::string>& to, std::string_view help);
  void flag(std::string_view name, bool& to, std::string_view help);

  // Stores the words, or returns false when they ask for help. Fault::usage for what was not
  // declared, with the nearest name, and for what is missing or does not fit.
  [[nodiscard]] bool parse(std::span<const std::string> given);

  std::string help() const;
  std::vector<std::string> names_of_words() const;  // "SPEC", "FILE"
  std::vector<std::string> options() const;         // "--seed", "--help"
  // Those that a value follows, in all their spellings: "-o", "--output".
  std::vector<std::string> options_with_values() const;

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace narrowcast::cli
