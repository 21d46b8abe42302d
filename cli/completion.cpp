#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <span>

#include "base/error.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "codec/codec.hpp"
#include "codec/samples.hpp"
#include "collective/collective.hpp"
#include "data/data.hpp"
#include "predict/papers.hpp"
#include "predict/profile.hpp"
#include "run/run.hpp"

// Scripts that complete this program's words in a shell. They are made from the lists of commands, codecs and
// networks, so they know all of them.
namespace narrowcast::cli {
namespace {

using Names = std::vector<std::string>;

struct Shell {
  std::string_view name;
  std::string (*script)();
};
std::span<const Shell> shells();

template <class Rows>
Names names_of(const Rows& rows) {
  Names names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

// What stands after an option, where it is one of a list.
struct Values {
  std::string_view option;
  Names names;
};
std::vector<Values> values() {
  Names specs = names_of(codecs());
  specs.emplace_back("auto");  // of train
  return {{"--codec", std::move(specs)},
          {"--algorithm", names_of(all_reduces())},
          {"--dist", names_of(distributions())},
          {"--net", names_of(networks())},
          {"--data", names_of(data_sets())},
          {"--profile", names_of(profiles())},
          {"--setup", names_of(recipes())},
          {"--parallel", {"data", "model", "hybrid"}},
          {"--transport", {"inproc", "shm", "gloo", "mpi"}}};
}

// What a command can be followed by.
struct Following {
  Names options = {};
  bool takes_words = false;
  Names words = {};  // those of which there is a list
};

Following what_follows(const Command& command) {
  Arguments arguments(std::string(command.name), "");
  command.declare(arguments);
  Following all{.options = arguments.options()};
  for (const std::string& name : arguments.names_of_words()) {
    all.takes_words = true;
    if (name == "SPEC") all.words = names_of(codecs());
    if (name == "SHELL") all.words = names_of(shells());
    if (name == "MODEL") all.words = names_of(paper_models());
  }
  return all;
}

// Of all commands, those that something follows of which there is no list: a file, perhaps.
Names options_without_list() {
  std::set<std::string> names;
  std::set<std::string> others;
  for (const Values& each : values()) others.emplace(each.option);
  for (const Command& command : commands()) {
    Arguments arguments(std::string(command.name), "");
    command.declare(arguments);
    const Names with = arguments.options_with_values();
    names.insert(with.begin(), with.end());
    for (const std::string& option : arguments.options())
      if (std::ranges::find(with, option) == with.end()) others.insert(option);
  }
  std::erase_if(names, [&](const std::string& name) { return others.contains(name); });
  return {names.begin(), names.end()};
}

Names first_words() {
  std::set<std::string> words = {"help", "--help", "--version"};
  for (const Command& command : commands())
    words.emplace(command.name.substr(0, command.name.find(' ')));
  return {words.begin(), words.end()};
}

// The second words of commands that have two.
Names words_after(std::string_view first) {
  Names words;
  for (const Command& command : commands())
    if (command.name.size() > first.size() && command.name.starts_with(first) &&
        command.name[first.size()] == ' ')
      words.emplace_back(command.name.substr(first.size() + 1));
  return words;
}

std::string joined(const Names& names) { return fmt::format("{}", fmt::join(names, " ")); }

std::set<std::string> groups() {
  std::set<std::string> first;
  for (const Command& command : commands())
    if (const std::size_t blank = command.name.find(' '); blank != std::string_view::npos)
      first.emplace(command.name.substr(0, blank));
  return first;
}

// The arm of a `case` for a command: its options, and its words with `more` of them.
std::string bash_arm(std::string_view pattern, const Following& follows, const Names& more) {
  // Options where nothing else is expected, or a dash asks for them. Of words without a list the shell offers files.
  return fmt::format("      {}) options='{}' words='{}' second='{}'{} ;;\n", pattern,
                     joined(follows.options), joined(follows.words), joined(more),
                     follows.takes_words ? "" : " wordless=yes");
}

std::string bash_arms() {
  std::string arms;
  std::set<std::string> left = groups();
  for (const Command& command : commands())
    if (command.name.find(' ') != std::string_view::npos)
      arms += bash_arm(fmt::format("'{}'", command.name), what_follows(command), {});
  for (const Command& command : commands())
    if (command.name.find(' ') == std::string_view::npos) {
      left.erase(std::string(command.name));
      arms += bash_arm(fmt::format("'{} '*", command.name), what_follows(command),
                       words_after(command.name));
    }
  for (const std::string& group : left)
    arms += bash_arm(fmt::format("'{} '*", group), {.options = {"--help"}}, words_after(group));
  return arms;
}

std::string bash() {
  std::string script =
      "_narrowcast() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local choices= options= words= second= wordless=\n"
      "  COMPREPLY=()\n"
      "  case $previous in\n";
  for (const Values& each : values())
    script += fmt::format("    {}) choices='{}' ;;\n", each.option, joined(each.names));
  // The shell then offers files.
  script += fmt::format("    {}) return ;;\n", fmt::join(options_without_list(), "|"));
  script += fmt::format("    help) choices='{}' ;;\n", joined(first_words()));
  script += "  esac\n  if [[ -z $choices ]]; then\n";
  script += fmt::format("    case \"${{COMP_WORDS[1]}} ${{COMP_WORDS[2]}}\" in\n{}    esac\n",
                        bash_arms());
  script +=
      "    choices=$words\n"
      "    if [[ $COMP_CWORD == 2 ]]; then choices+=\" $second\"; fi\n"
      "    if [[ $current == -* || -n $wordless && -z ${choices// } ]]; then choices=$options; fi\n"
      "  fi\n";
  script +=
      fmt::format("  if [[ $COMP_CWORD == 1 ]]; then choices='{}'; fi\n", joined(first_words()));
  return script +
         "  COMPREPLY=($(compgen -W \"$choices\" -- \"$current\"))\n"
         "}\n"
         "complete -o default -F _narrowcast narrowcast\n";
}

// A zsh without settings of its own has no completion at all yet.
std::string zsh() {
  return "(( $+functions[compdef] )) || { autoload -U +X compinit && compinit; }\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         bash();
}

// A condition of fish: the words so far are those of the command.
std::string fish_condition(std::string_view name) {
  std::string condition;
  std::size_t begin = 0;
  while (begin <= name.size()) {
    const std::size_t end = std::min(name.find(' ', begin), name.size());
    condition += fmt::format("{}__fish_seen_subcommand_from {}", condition.empty() ? "" : "; and ",
                             name.substr(begin, end - begin));
    begin = end + 1;
  }
  return condition;
}

std::string fish() {
  std::string script = fmt::format("complete -c narrowcast -n __fish_use_subcommand -a '{}'\n",
                                   joined(first_words()));
  for (const std::string& group : groups())
    script += fmt::format(
        "complete -c narrowcast -n '__fish_seen_subcommand_from {0}; and not "
        "__fish_seen_subcommand_from {1}' -a '{1}'\n",
        group, joined(words_after(group)));
  for (const Command& command : commands()) {
    const std::string condition = fish_condition(command.name);
    const Following follows = what_follows(command);
    for (const std::string& option : follows.options)
      script += fmt::format("complete -c narrowcast -n '{}' -l {}\n", condition, option.substr(2));
    if (!follows.words.empty())
      script +=
          fmt::format("complete -c narrowcast -n '{}' -a '{}'\n", condition, joined(follows.words));
  }
  for (const Values& each : values())
    script += fmt::format("complete -c narrowcast -l {} -x -a '{}'\n", each.option.substr(2),
                          joined(each.names));
  return script;
}

std::span<const Shell> shells() {
  static constexpr std::array kShells{Shell{"bash", bash}, Shell{"zsh", zsh}, Shell{"fish", fish}};
  return kShells;
}

}  // namespace

Action declare_completion(Arguments& arguments) {
  auto shell = std::make_shared<std::string>();
  arguments.word("SHELL", *shell, "bash, zsh or fish");
  return [shell](const Console& console) {
    for (const Shell& row : shells())
      if (row.name == *shell) {
        console.out << row.script();
        return;
      }
    throw Error(Fault::usage, fmt::format("no shell '{}'; there are bash, zsh and fish", *shell));
  };
}

}  // namespace narrowcast::cli
