// Sends numbers shaped like a gradient through a codec, and says what that costs and saves.
//
//   encode [SPEC]     e.g. encode qsgd:bits=4; without a spec, dynamic8

#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "codec/codec.hpp"
#include "codec/distortion.hpp"
#include "codec/samples.hpp"

namespace nc = narrowcast;

int main(int argc, char** argv) try {
  const std::unique_ptr<nc::Codec> codec = nc::make_codec(argc > 1 ? argv[1] : "dynamic8");

  std::vector<float> gradient(1 << 20);
  nc::distribution("gradient").draw(nc::stream_of({.seed = 1}), 0, gradient);

  // The stream is the dice of codecs that round by chance: one for every step, tensor and rank.
  std::vector<std::byte> wire(codec->max_bytes(gradient.size()));
  wire.resize(codec->encode(gradient, wire, {.stream = nc::stream_of({.seed = 2, .step = 1})}));

  std::vector<float> received(gradient.size());
  codec->decode(wire, received);

  nc::Distortion distortion;
  distortion.add(gradient, received);
  const double bits = 8.0 * static_cast<double>(wire.size()) / static_cast<double>(gradient.size());
  std::printf("%s\n", codec->spec().c_str());
  std::printf("%zu values in %zu bytes: %.3f bits a value instead of 32\n", gradient.size(),
              wire.size(), bits);
  std::printf("mean relative error %.2f %%, signal to noise %.1f dB, cosine %.6f\n",
              100 * distortion.mean_relative(), distortion.signal_to_noise_db(),
              distortion.cosine());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "encode: %s\n", error.what());
  return 1;
}
