#include <memory>
#include <optional>

#include "base/error.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/input.hpp"
#include "cli/output.hpp"
#include "codec/frame.hpp"
#include "plan/counts.hpp"

namespace narrowcast::cli {
namespace {

struct EncodeWords {
  std::string spec;
  std::string file;
  std::string output;
  std::string shape;
  std::string seed = "0";
};

using Shape = std::vector<std::size_t>;

Shape parse_shape(const std::string& text) {
  Shape shape;
  for (const std::string& word : split_list(text))
    shape.push_back(parse_number(word, "a dimension of a shape, such as 1024,784"));
  return shape;
}

void require_fit(const Shape& shape, std::size_t values) {
  std::size_t product = 1;
  bool fits = true;
  for (const std::size_t length : shape)
    fits = !__builtin_mul_overflow(product, length, &product) && fits;
  if (!fits || product != values)
    throw Error(Fault::usage,
                "the shape does not fit the " + std::to_string(values) + " values of the input");
}

std::unique_ptr<Codec> codec_for(const std::string& spec, const TensorShape& tensor) {
  try {
    return make_codec(spec, tensor);
  } catch (const Error& error) {
    if (tensor.innermost) throw;
    make_codec(spec, {.innermost = 1});  // unless a shape was all that it lacked, throws the same
    throw Error(error.fault(), error.what() + std::string(" (give --shape)"));
  }
}

void encode_file(const EncodeWords& words, const Console& console) {
  require_sink(words.output, console);
  const Encoding how{.stream = stream_of({.seed = parse_number(words.seed, "a seed")})};
  std::optional<Shape> shape;
  if (!words.shape.empty()) shape = parse_shape(words.shape);
  TensorShape tensor;
  if (shape) tensor.innermost = shape->back();
  const std::unique_ptr<Codec> codec = codec_for(words.spec, tensor);

  const std::vector<float> values = read_floats(words.file, console);
  if (shape) require_fit(*shape, values.size());
  write_bytes(words.output, write_frame(*codec, values, how), console);
}

}  // namespace

Action declare_encode(Arguments& arguments) {
  const auto words = std::make_shared<EncodeWords>();
  arguments.word("SPEC", words->spec, "The codec, as in 'narrowcast codecs'");
  arguments.optional_word("FILE", words->file,
                          "Raw little-endian float32; standard input when left out");
  arguments.option("--seed N", words->seed, "Seed of the dice of stochastic codecs [0]");
  arguments.option("--shape A,B,...", words->shape, "Dimensions of the tensor, innermost last");
  arguments.option("-o,--output FILE", words->output,
                   "Where the frame goes, instead of standard output");
  return [words](const Console& console) { encode_file(*words, console); };
}

}  // namespace narrowcast::cli
