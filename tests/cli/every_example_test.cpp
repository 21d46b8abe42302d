#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "cli/arguments.hpp"
#include "codec/codec.hpp"
#include "predict/profile.hpp"
#include "tests/cli/run_command.hpp"
#include "tests/support/places.hpp"

// Help texts and pages are full of command lines, and a reader copies them. Here all of them are read as the program
// would; tests/docs runs those of the README.
namespace narrowcast::cli::test {
namespace {

using Line = std::vector<std::string>;

// The words of the first command of a line, as a shell would take them apart: without redirections, pipes and comments.
Line shell_words(const std::string& text) {
  Line words;
  std::string word;
  char quote = 0;
  bool open = false;
  const auto finish = [&] {
    if (open) words.push_back(word);
    word.clear();
    open = false;
  };
  for (const char c : text) {
    if (quote == 0 && (c == '<' || c == '>' || c == '|' || (c == '#' && !open))) break;
    if (quote == 0 && c == ' ') {
      finish();
    } else if (c == quote || (quote == 0 && (c == '\'' || c == '"'))) {
      quote = quote == 0 ? c : 0;
      open = true;
    } else {
      word += c;
      open = true;
    }
  }
  finish();
  return words;
}

const Command* command_of(const Line& words) {
  const Command* found = nullptr;
  for (const Command& command : commands()) {
    const Line name = shell_words(std::string(command.name));
    if (words.size() >= name.size() && std::equal(name.begin(), name.end(), words.begin()) &&
        (found == nullptr || command.name.size() > found->name.size()))
      found = &command;
  }
  return found;
}

std::vector<std::string> values_of(const Line& words, std::string_view option) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == option) values.push_back(words[i + 1]);
  return values;
}

bool is_profile(const std::string& word) {
  return word.ends_with(".toml") ||
         std::ranges::any_of(profiles(), [&](const ProfileRow& row) { return row.name == word; });
}

void expect_known_values(const Line& words) {
  for (const std::string& codec : values_of(words, "--codec")) {
    // A list has several after another, and these two are no codecs.
    if (codec == "engine" || codec == "auto" || codec.find(",") != std::string::npos) continue;
    EXPECT_NO_THROW(make_codec(codec)) << codec;
  }
  for (const std::string& profile : values_of(words, "--profile"))
    EXPECT_TRUE(is_profile(profile)) << profile;
}

// Without the program's own name.
void expect_understood(const Line& words) {
  if (words == Line{"--version"} || words == Line{"--help"}) return;
  const Command* command = command_of(words);
  ASSERT_NE(nullptr, command);
  Arguments arguments("narrowcast " + std::string(command->name), "");
  const Action action = command->declare(arguments);
  const auto rest =
      words.begin() + static_cast<std::ptrdiff_t>(shell_words(std::string(command->name)).size());
  EXPECT_NO_THROW(EXPECT_TRUE(arguments.parse(Line(rest, words.end()))));
  expect_known_values(words);
}

// The lines of a page that a reader would type, those that end with a backslash joined.
std::vector<std::string> typed_lines(const std::string& page) {
  std::vector<std::string> found;
  bool inside = false;
  std::string begun;
  for (const std::string& line : lines_of(page)) {
    if (line.starts_with("```")) {
      inside = !inside && (line == "```sh" || line == "```console");
    } else if (inside && line.ends_with("\\")) {
      begun += line.substr(0, line.size() - 1);
    } else if (inside) {
      found.push_back(begun + line);
      begun.clear();
    }
  }
  return found;
}

// What follows the name of the program, wherever in the line it stands: after mpirun, after variables.
std::optional<Line> words_of_program(const std::string& line) {
  Line words = shell_words(line);
  const auto name = std::ranges::find_if(words, [](const std::string& word) {
    return word == "narrowcast" || word.ends_with("/narrowcast");
  });
  if (name == words.end()) return std::nullopt;
  return Line(name + 1, words.end());
}

std::vector<std::filesystem::path> pages() {
  const std::filesystem::path root = narrowcast::test::source_folder();
  std::vector<std::filesystem::path> found = {root / "README.md", root / "CONTRIBUTING.md"};
  for (const auto& entry : std::filesystem::directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  return found;
}

TEST(EveryExample, OfAHelpTextIsUnderstood) {
  std::vector<std::string> texts = {run_command({"--help"}).out,
                                    run_command({"bench", "--help"}).out};
  for (const Command& command : commands()) texts.emplace_back(command.examples);
  int count = 0;
  for (const std::string& text : texts)
    for (const std::string& line : lines_of(text)) {
      const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
      if (!line.substr(begin).starts_with("narrowcast ")) continue;
      SCOPED_TRACE(line);
      expect_understood(*words_of_program(line));
      ++count;
    }
  EXPECT_GT(count, 60);
}

TEST(EveryExample, OfAPageIsUnderstood) {
  int count = 0;
  for (const std::filesystem::path& page : pages())
    for (const std::string& line : typed_lines(contents(page))) {
      const std::optional<Line> words = words_of_program(line);
      // "..." stands for words that the reader knows.
      if (!words || (!words->empty() && words->back() == "...")) continue;
      SCOPED_TRACE(page.filename().string() + ": " + line);
      expect_understood(*words);
      ++count;
    }
  EXPECT_GT(count, 30);
}

TEST(EveryExample, IsReadAsAShellWould) {
  EXPECT_EQ((Line{"a", "b c", "d"}), shell_words("a 'b c'  d > e"));
  EXPECT_EQ((Line{"a", ""}), shell_words("a \"\" # b"));
  EXPECT_EQ((Line{"a#b"}), shell_words("a#b | c"));
  EXPECT_EQ((std::vector<std::string>{"one", "two   three"}),
            typed_lines("zero\n```sh\none\ntwo \\\n  three\n```\nfour\n```toml\nfive\n```\n"));
}

}  // namespace
}  // namespace narrowcast::cli::test
