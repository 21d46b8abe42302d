#include <CLI/CLI.hpp>
#include <memory>

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

Action declare_decode(CLI::App& app) {
  const auto words = std::make_shared<DecodeWords>();
  app.add_option("FILE", words->file, "A frame; standard input when left out")->type_name("");
  app.add_option("-o,--output", words->output, "Where the values go, instead of standard output")
      ->type_name("FILE");
  return [words](const Console& console) { decode_file(*words, console); };
}

}  // namespace narrowcast::cli
