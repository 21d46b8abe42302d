#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <new>
#include <ostream>
#include <vector>

#include "base/error.hpp"
#include "base/version.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/engines.hpp"
#include "cli/nearest.hpp"
#include "cli/ranks.hpp"
#include "cli/stdio.hpp"
#include "codec/target.hpp"

namespace narrowcast::cli {
namespace {

int exit_code(Fault fault) {
  switch (fault) {
    case Fault::usage:
      return 2;
    case Fault::wire:
      return 3;
    case Fault::peer:
      return 4;
    case Fault::system:
      return 5;
  }
  return 5;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Names and specs are quoted in messages and may hold anything, also what drives a terminal.
std::string one_line(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::string line;
  for (const char c : text)
    line +=
        is_control(c) ? fmt::format("\\x{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  return line;
}

int fail(const Console& console, Fault fault, const std::string& why) {
  console.err << "narrowcast: " << one_line(why) << std::endl;
  return exit_code(fault);
}

std::string indented(std::string_view lines) {
  std::string text = "  ";
  for (const char c : lines) text += c == '\n' ? std::string("\n  ") : std::string(1, c);
  return text;
}

// What a newcomer may try; of a group, the first example of each of its commands.
std::string first_examples(std::string_view prefix) {
  if (prefix.empty())
    return "narrowcast train --workers 2 --codec dynamic8\n"
           "narrowcast advise --net resnet50 --profile ethernet-10g --workers 16\n"
           "narrowcast encode dynamic8 < gradient.f32 > gradient.frame\n"
           "narrowcast bench allreduce --workers 4 --codec qsgd:bits=4";
  std::string lines;
  for (const Command& command : commands())
    if (command.name.starts_with(prefix))
      lines += (lines.empty() ? "" : "\n") +
               std::string(command.examples.substr(0, command.examples.find('\n')));
  return lines;
}

// The commands whose name starts with `prefix`.
void print_overview(std::ostream& out, std::string_view prefix) {
  out << "Examples:\n"
      << indented(first_examples(prefix))
      << "\n\nGradients and activations in few bits.\n\n"
         "Usage: narrowcast COMMAND [OPTIONS]\n\nCommands:\n";
  std::size_t width = 0;
  for (const Command& command : commands()) width = std::max(width, command.name.size());
  for (const Command& command : commands())
    if (command.name.starts_with(prefix))
      out << "  " << command.name << std::string(width + 2 - command.name.size(), ' ')
          << command.summary << "\n";
  out << "\n'narrowcast COMMAND --help' has examples and options; '--version' says what this is.\n"
         "NARROWCAST_TARGET=scalar (or another name that 'narrowcast doctor' shows) forces a CPU "
         "target.\n"
         "\nExit codes: 0 done, 1 done but for cells of a study that failed, 2 bad words, 3 bad "
         "bytes, 4 a peer failed, 5 the machine said no.\n";
}

void print_version(std::ostream& out) {
  out << "narrowcast " << version() << ", commit " << commit() << ", CPU target " << active_target()
      << "\n";
  for (const Engine& engine : engines())
    if (const EngineFound found = find_engine(engine); !found.library.empty())
      out << "  " << engine.name << ", " << library_file(found.library) << "\n";
}

bool asks_for_help(std::string_view word) { return word == "--help" || word == "-h"; }

std::vector<std::string> split_words(std::string_view name) {
  const std::size_t space = name.find(' ');
  if (space == std::string_view::npos) return {std::string(name)};
  return {std::string(name.substr(0, space)), std::string(name.substr(space + 1))};
}

// Whether commands of two words start with this one.
bool is_group(const std::string& word) {
  return std::ranges::any_of(
      commands(), [&](const Command& command) { return command.name.starts_with(word + " "); });
}

// The command that the first words name; nullptr when they name none.
const Command* find_command(Words words) {
  const Command* found = nullptr;
  for (const Command& command : commands()) {
    const std::vector<std::string> name = split_words(command.name);
    if (words.size() < name.size() || !std::ranges::equal(name, words.first(name.size()))) continue;
    // "errors allreduce" is a command and no word of "errors".
    if (found == nullptr || command.name.size() > found->name.size()) found = &command;
  }
  return found;
}

[[noreturn]] void refuse_command(Words words) {
  std::vector<std::string> known;
  for (const Command& command : commands()) known.emplace_back(command.name);
  std::string asked = words[0];
  if (is_group(asked)) {
    if (words.size() == 1)
      throw Error(Fault::usage, "'" + asked + "' needs another word; see 'narrowcast --help'");
    asked += " " + words[1];
  }
  throw Error(Fault::usage,
              "unknown command '" + asked + "'" + advice(asked, known, "narrowcast --help"));
}

void run_command(Words words, const Console& console) {
  const Command* found = find_command(words);
  if (found == nullptr) refuse_command(words);
  const Command& command = *found;
  words = words.subspan(split_words(command.name).size());
  Arguments arguments("narrowcast " + std::string(command.name),
                      "Examples:\n" + indented(command.examples) + "\n\nTo " +
                          std::string(command.summary) + ".\n");
  const Action action = command.declare(arguments);
  if (arguments.parse(words))
    action(console);
  else
    console.out << arguments.help();
}

bool same_letters(std::string_view a, std::string_view b) {
  const auto lower = [](unsigned char c) { return std::tolower(c); };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// People write AVX2 as they like.
void force_target(const std::string& asked) {
  for (const std::string& known : cpu_targets())
    if (same_letters(asked, known)) return use_target(known);
  use_target(asked);
}

// "help encode" is "encode --help".
std::vector<std::string> with_help_last(Words words) {
  std::vector<std::string> turned(words.begin(), words.end());
  if (!turned.empty() && turned[0] == "help") {
    turned.erase(turned.begin());
    turned.emplace_back("--help");
  }
  return turned;
}

void run_words(Words words, const Console& console) {
  if (!console.target.empty()) force_target(console.target);
  require(!words.empty(), Fault::usage, "no command given; see 'narrowcast --help'");
  if (asks_for_help(words[0]))
    print_overview(console.out, "");
  else if (words.size() == 2 && is_group(words[0]) && find_command(words.first(1)) == nullptr &&
           asks_for_help(words[1]))
    print_overview(console.out, words[0] + " ");
  else if (words[0] == "--version")
    print_version(console.out);
  else
    run_command(words, console);
  console.out.flush();
  require(console.out.good(), Fault::system, "cannot write the output");
}

}  // namespace

int run(Words words, const Console& console) {
  try {
    Console with_words = console;
    with_words.words.assign(words.begin(), words.end());
    run_words(with_help_last(words), with_words);
    return 0;
  } catch (const ReaderLeft&) {
    return 0;
  } catch (const JobEnded& job) {
    return job.code;
  } catch (const Error& error) {
    return fail(console, error.fault(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(console, Fault::system, "out of memory");
  } catch (const std::exception& error) {
    return fail(console, Fault::system, error.what());
  }
}

}  // namespace narrowcast::cli
