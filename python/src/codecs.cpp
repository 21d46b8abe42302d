#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "bench/accuracy.hpp"
#include "codec/codec.hpp"
#include "codec/frame.hpp"
#include "codec/promise_text.hpp"
#include "python/src/arrays.hpp"
#include "python/src/parts.hpp"

namespace narrowcast::python {
namespace {

namespace nb = nanobind;

using BytesIn = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using BytesOut = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

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

std::size_t encode_message(const FloatsIn& values, const BytesOut& message, const std::string& spec,
                           std::uint64_t seed) {
  const nb::gil_scoped_release free;
  const std::span<std::uint8_t> room(message.data(), message.size());
  return make_codec(spec)->encode(span_of(values), std::as_writable_bytes(room), with_seed(seed));
}

void decode_message(const BytesIn& message, const FloatsOut& values, const std::string& spec) {
  const nb::gil_scoped_release free;
  make_codec(spec)->decode(std::as_bytes(std::span(message.data(), message.size())),
                           span_of(values));
}

void quantize(const FloatsIn& values, const FloatsOut& out, const std::string& spec,
              std::uint64_t seed, std::optional<std::size_t> innermost) {
  require(out.size() == values.size(), Fault::usage, "there must be as many results as values");
  const nb::gil_scoped_release free;
  make_codec(spec, {.innermost = innermost})
      ->quantize(span_of(values), span_of(out), with_seed(seed));
}

nb::typed<nb::dict, nb::str, nb::any> errors(const FloatsIn& values, const std::string& spec,
                                             std::uint64_t seed,
                                             std::optional<std::size_t> innermost) {
  bench::Accuracy measured;
  {
    const nb::gil_scoped_release free;
    measured = bench::measure_accuracy(*make_codec(spec, {.innermost = innermost}), span_of(values),
                                       with_seed(seed).stream);
  }
  const Distortion& distortion = measured.distortion;
  nb::typed<nb::dict, nb::str, nb::any> row;
  row["samples"] = distortion.count();
  row["bits_per_value"] = measured.bits_per_value;
  row["mae"] = distortion.mean_absolute();
  row["mse"] = distortion.mean_squared();
  row["relative_percent"] = distortion.mean_relative_percent();
  row["max_absolute"] = distortion.max_absolute();
  row["bias"] = distortion.bias();
  row["snr_db"] = distortion.signal_to_noise_db();
  row["cosine"] = distortion.cosine();
  return row;
}

nb::str text(std::string_view view) { return nb::str(view.data(), view.size()); }

nb::list options_of(const CodecRow& row) {
  nb::list options;
  for (const Option& option : row.options) {
    nb::dict one;
    one["key"] = text(option.key);
    one["default"] = option.fallback.empty() ? nb::object(nb::none()) : text(option.fallback);
    one["required"] = option.required;
    one["values"] = text(option.values);
    one["meaning"] = text(option.meaning);
    options.append(one);
  }
  return options;
}

nb::dict row_of(const CodecRow& row, std::string_view spec) {
  const std::unique_ptr<Codec> codec = make_codec(spec);
  const Promise& promise = codec->promise();
  nb::dict error;
  error["of_block"] = promise.of_block;
  error["of_value"] = promise.of_value;
  error["absolute"] = promise.absolute;
  error["largest"] = promise.largest;
  nb::dict one;
  one["name"] = text(row.name);
  one["spec"] = text(spec);
  one["canonical"] = text(codec->spec());
  one["summary"] = text(row.summary);
  one["options"] = options_of(row);
  one["bits_per_value"] = bench::nominal_bits(*codec);
  one["block"] = promise.block;
  one["fixed_size"] = promise.fixed_size;
  one["error"] = error;
  one["bias"] = promise.bias;
  one["non_finite"] = text(name_of(promise.non_finite));
  return one;
}

nb::typed<nb::list, nb::any> codec_rows() {
  nb::typed<nb::list, nb::any> rows;
  for (const CodecRow& row : codecs())
    for (const std::string_view spec : row.variants) rows.append(row_of(row, spec));
  return rows;
}

}  // namespace

void add_codecs(nb::module_& module) {
  using nb::arg;
  module.def("codecs", codec_rows, "What `narrowcast codecs --json` prints.");
  module.def("encode", encode, arg("values").noconvert(), arg("spec"), arg("seed"),
             arg("innermost").none(), "A frame.");
  module.def("decode", decode, arg("frame").noconvert(), "The values of a frame, checked.");
  module.def("encode_message", encode_message, arg("values").noconvert(),
             arg("message").noconvert(), arg("spec"), arg("seed"),
             "What travels between ranks, without a frame, into a buffer; its length.");
  module.def("decode_message", decode_message, arg("message").noconvert(),
             arg("values").noconvert(), arg("spec"), "The values of such a message.");
  module.def("quantize", quantize, arg("values").noconvert(), arg("out").noconvert(), arg("spec"),
             arg("seed"), arg("innermost").none(),
             "Encodes and decodes, into `out` of the same length.");
  module.def("errors", errors, arg("values").noconvert(), arg("spec"), arg("seed"),
             arg("innermost").none(), "How far decoded values are from these.");
}

}  // namespace narrowcast::python
