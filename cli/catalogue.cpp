#include "cli/command.hpp"

namespace narrowcast::cli {

Action declare_codecs(Arguments& arguments);
Action declare_encode(Arguments& arguments);
Action declare_decode(Arguments& arguments);
Action declare_inspect(Arguments& arguments);
Action declare_compare(Arguments& arguments);
Action declare_errors(Arguments& arguments);
Action declare_bench_codec(Arguments& arguments);
Action declare_doctor(Arguments& arguments);

std::span<const Command> commands() {
  static constexpr Command kCommands[] = {
      {"codecs", "list the codecs: options, bits per value, promises",
       "narrowcast codecs\n"
       "narrowcast codecs --json | grep qsgd",
       declare_codecs},
      {"encode", "turn raw little-endian float32 into a frame",
       "narrowcast encode dynamic8 < gradient.f32 > gradient.frame\n"
       "narrowcast encode qsgd:bits=4 --seed 7 -o gradient.frame gradient.f32\n"
       "narrowcast encode onebit:column=shape --shape 1024,784 < gradient.f32 > gradient.frame",
       declare_encode},
      {"decode", "turn a frame back into raw little-endian float32",
       "narrowcast decode < gradient.frame > gradient.f32\n"
       "narrowcast decode -o gradient.f32 gradient.frame",
       declare_decode},
      {"inspect", "say what is in a frame, and check it",
       "narrowcast inspect gradient.frame\n"
       "narrowcast inspect --json < gradient.frame",
       declare_inspect},
      {"compare", "show bits, error and speed of the main codecs side by side",
       "narrowcast compare\n"
       "narrowcast compare --values 16M --json",
       declare_compare},
      {"errors", "measure the error of codecs on known distributions",
       "narrowcast errors --dist uniform,normal\n"
       "narrowcast errors dynamic8 bnb8 --dist gradient --samples 25M\n"
       "narrowcast errors --json > errors.jsonl",
       declare_errors},
      {"bench codec", "measure the speed of codecs beside memcpy",
       "narrowcast bench codec dynamic8 qsgd:bits=4 --sizes 1M\n"
       "narrowcast bench codec --threads 2 --json > codec.jsonl",
       declare_bench_codec},
      {"doctor", "say what this machine has, what is missing and how to install it",
       "narrowcast doctor\n"
       "narrowcast doctor --json",
       declare_doctor},
  };
  return kCommands;
}

}  // namespace narrowcast::cli
