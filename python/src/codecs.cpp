#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "codec/frame.hpp"
#include "python/src/arrays.hpp"
#include "python/src/parts.hpp"

namespace narrowcast::python {
namespace {

namespace nb = nanobind;

using BytesIn = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Encoding with_seed(std::uint64_t seed) { return {.stream = stream_of({.seed = seed})}; }

nb::bytes encode(const FloatsIn& values, const std::string& spec, std::uint64_t seed,
                 std::optional<std::size_t> innermost) {
  std::vector<std::byte> frame;
  {
    const nb::gil_scoped_release free;
    frame =
        write_frame(*make_codec(spec, {.innermost = innermost}), span_of(values), with_seed(seed));
  }
  return nb::bytes(frame.data(), frame.size());
}

nb::ndarray<nb::numpy, float, nb::ndim<1>> decode(const BytesIn& frame) {
  auto values = std::make_unique<std::vector<float>>();
  {
    const nb::gil_scoped_release free;
    *values = decode_frame(std::as_bytes(std::span(frame.data(), frame.size())));
  }
  float* const data = values->data();
  const std::size_t count = values->size();
  const nb::capsule owner(
      values.release(), [](void* kept) noexcept { delete static_cast<std::vector<float>*>(kept); });
  return {data, {count}, owner};
}

void quantize(const FloatsIn& values, const FloatsOut& out, const std::string& spec,
              std::uint64_t seed, std::optional<std::size_t> innermost) {
  const nb::gil_scoped_release free;
  const std::unique_ptr<Codec> codec = make_codec(spec, {.innermost = innermost});
  std::vector<std::byte> message(codec->max_bytes(values.size()));
  message.resize(codec->encode(span_of(values), message, with_seed(seed)));
  codec->decode(message, span_of(out));
}

}  // namespace

void add_codecs(nb::module_& module) {
  using nb::arg;
  module.def("encode", encode, arg("values"), arg("spec"), arg("seed"), arg("innermost").none());
  module.def("decode", decode, arg("frame"));
  module.def("quantize", quantize, arg("values"), arg("out"), arg("spec"), arg("seed"),
             arg("innermost").none());
}

}  // namespace narrowcast::python
