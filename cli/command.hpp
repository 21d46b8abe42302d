#pragma once

#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// A command is a function from words to text, so that a test can call it.
namespace narrowcast::cli {

class Arguments;

using Words = std::span<const std::string>;

// Which of the streams a person looks at. Tables and errors are the same for all; progress lines
// and colours are for terminals only, and binary data never goes there.
struct Terminals {
  bool in = false;
  bool out = false;
  bool err = false;
  bool colour = false;  // on `out`
};

// Everything a command sees of the world, apart from the files that its words name.
struct Console {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  Terminals terminals = {};
  std::string target = {};              // NARROWCAST_TARGET; empty: the best that this CPU has
  std::vector<std::string> words = {};  // that the program was called with; run() fills them in
};

using Action = std::function<void(const Console&)>;

// A command exists when it has a row in cli/catalogue.cpp.
struct Command {
  std::string_view name;  // one word, or two: "bench codec"
  std::string_view summary;
  std::string_view examples;      // what its help starts with, a line each
  Action (*declare)(Arguments&);  // adds its options; the action reads them after parsing
};

std::span<const Command> commands();

// Runs one command and returns the exit code: 0, or 2 for bad words, 3 for bad bytes, 4 for a peer,
// 5 for the machine, and then one line on console.err says what was wrong. 1 is for work that was done but
// for parts of it, which the output names.
int run(Words words, const Console& console);

}  // namespace narrowcast::cli
