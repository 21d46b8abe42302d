#include <memory>

#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/input.hpp"
#include "cli/output.hpp"
#include "codec/frame.hpp"

namespace narrowcast::cli {
namespace {

struct DecodeWords {
  std::string file;
  std::string output;
};

void decode_file(const DecodeWords& words, const Console& console) {
  require_sink(words.output, console);
  const std::vector<float> values = decode_frame(read_bytes(words.file, console));
  write_bytes(words.output, std::as_bytes(std::span(values)), console);
}

}  // namespace

Action declare_decode(Arguments& arguments) {
  const auto words = std::make_shared<DecodeWords>();
  arguments.optional_word("FILE", words->file, "A frame; standard input when left out");
  arguments.option("-o,--output FILE", words->output,
                   "Where the values go, instead of standard output");
  return [words](const Console& console) { decode_file(*words, console); };
}

}  // namespace narrowcast::cli
