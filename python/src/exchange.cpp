#include "exchange/exchange.hpp"

#include <fmt/core.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <tuple>

#include "base/error.hpp"
#include "python/src/arrays.hpp"
#include "python/src/net.hpp"
#include "python/src/parts.hpp"

namespace narrowcast::python {
namespace {

namespace nb = nanobind;

using NamedThings = nb::typed<nb::dict, nb::str, nb::any>;
using NamedSize = std::tuple<std::string, std::size_t, std::optional<std::size_t>>;
using Free = nb::call_guard<nb::gil_scoped_release>;

std::vector<Tensor> tensors_of(const std::vector<NamedSize>& list) {
  std::vector<Tensor> tensors;
  for (const auto& [name, elements, innermost] : list)
    tensors.push_back({.name = name, .elements = elements, .innermost = innermost});
  return tensors;
}

// An exchange that keeps buffers alive for as long as it works on them.
class Exchanging {
 public:
  Exchanging(const Net& net, const Plan& plan, const std::vector<NamedSize>& tensors,
             const ExchangeOptions& options)
      : exchange_(std::make_unique<Exchange>(net.transport(), plan, tensors_of(tensors), options)) {
  }

  Exchange& get() const {
    require(exchange_ != nullptr, Fault::usage, "this exchange is closed");
    return *exchange_;
  }

  // Tensors that lie in a buffer, each from its offset on.
  void ready(const std::vector<std::size_t>& tensors, const std::vector<std::size_t>& offsets,
             const FloatsOut& buffer) {
    require(tensors.size() == offsets.size(), Fault::usage, "every tensor needs an offset");
    const MutableFloats values = span_of(buffer);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      require(tensors[i] < get().tensors().size(), Fault::usage, "no such tensor");
      const std::size_t elements = get().tensors()[tensors[i]].elements;
      require(offsets[i] <= values.size() && elements <= values.size() - offsets[i], Fault::usage,
              "a tensor lies outside of its buffer");
    }
    held_.push_back(buffer);
    const nb::gil_scoped_release free;
    for (std::size_t i = 0; i < tensors.size(); ++i)
      get().ready(tensors[i], values.subspan(offsets[i], get().tensors()[tensors[i]].elements));
  }

  StepReport wait() {
    StepReport report;
    {
      const nb::gil_scoped_release free;
      report = get().wait();
    }
    held_.clear();
    return report;
  }

  void close() {
    {
      const nb::gil_scoped_release free;
      exchange_.reset();
    }
    held_.clear();
  }

 private:
  std::unique_ptr<Exchange> exchange_;
  std::vector<FloatsOut> held_;
};

std::unique_ptr<Exchanging> make_exchange(const Net& net, const Plan& plan,
                                          const std::vector<NamedSize>& tensors, std::uint64_t seed,
                                          std::uint32_t channel, int threads) {
  const nb::gil_scoped_release free;
  return std::make_unique<Exchanging>(
      net, plan, tensors, ExchangeOptions{.seed = seed, .channel = channel, .threads = threads});
}

NamedThings dict_of(const StepReport& report) {
  NamedThings out;
  out["encode_ms"] = report.encode_ms;
  out["wire_ms"] = report.wire_ms;
  out["decode_ms"] = report.decode_ms;
  out["busy_ms"] = report.busy_ms;
  out["wait_ms"] = report.wait_ms;
  out["overlap"] = report.overlap();
  out["bytes"] = report.bytes();
  out["fp32_bytes"] = report.fp32_bytes;
  out["bytes_by_codec"] = nb::cast(report.bytes_by_codec);
  out["skipped"] = report.skipped;
  return out;
}

// By spec: how many tensors travel in it at that moment, and how many values.
std::map<std::string, std::pair<std::size_t, std::size_t>> ways(const Exchange& exchange,
                                                                const Moment& moment) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> found;
  for (const Tensor& tensor : exchange.tensors()) {
    auto& [tensors, values] =
        found[way_of(exchange.plan(), tensor.name, tensor.elements, moment).codec];
    ++tensors;
    values += tensor.elements;
  }
  return found;
}

nb::object tensor_of(Array&& array) {
  auto kept = std::make_unique<Array>(std::move(array));
  std::vector<std::size_t> shape(kept->shape.begin(), kept->shape.end());
  std::byte* const data = kept->bytes.data();
  const Dtype dtype = kept->dtype;
  const nb::capsule owner(kept.release(),
                          [](void* memory) noexcept { delete static_cast<Array*>(memory); });
  const nb::dlpack::dtype type = dtype == Dtype::f32   ? nb::dtype<float>()
                                 : dtype == Dtype::i64 ? nb::dtype<std::int64_t>()
                                                       : nb::dtype<std::uint8_t>();
  return nb::cast(nb::ndarray<nb::pytorch>(data, shape.size(), shape.data(), owner, nullptr, type));
}

Array array_of(const std::string& name, const nb::ndarray<nb::c_contig, nb::device::cpu>& values) {
  Array array{.name = name};
  if (values.dtype() == nb::dtype<float>())
    array.dtype = Dtype::f32;
  else if (values.dtype() == nb::dtype<std::int64_t>())
    array.dtype = Dtype::i64;
  else if (values.dtype() == nb::dtype<std::uint8_t>())
    array.dtype = Dtype::u8;
  else
    throw Error(
        Fault::usage,
        fmt::format("'{}' is neither float32 nor int64 nor uint8: no saved residual", name));
  for (std::size_t i = 0; i < values.ndim(); ++i)
    array.shape.push_back(static_cast<std::int64_t>(values.shape(i)));
  const auto* const bytes = static_cast<const std::byte*>(values.data());
  array.bytes.assign(bytes, bytes + values.nbytes());
  return array;
}

NamedThings save(Exchanging& exchange) {
  std::vector<Array> arrays;
  {
    const nb::gil_scoped_release free;
    arrays = exchange.get().save();
  }
  NamedThings out;
  for (Array& array : arrays) {
    const std::string name = array.name;
    out[name.c_str()] = tensor_of(std::move(array));
  }
  return out;
}

using Saved = std::map<std::string, nb::ndarray<nb::c_contig, nb::device::cpu>>;

std::vector<Array> arrays_of(const Saved& saved) {
  std::vector<Array> arrays;
  for (const auto& [name, values] : saved) arrays.push_back(array_of(name, values));
  return arrays;
}

void load(Exchanging& exchange, const Saved& saved) {
  const std::vector<Array> arrays = arrays_of(saved);
  const nb::gil_scoped_release free;
  exchange.get().load(arrays);
}

void check_saved(const Saved& saved, const std::vector<NamedSize>& tensors) {
  check_residuals(arrays_of(saved), tensors_of(tensors));
}

}  // namespace

void add_exchange(nb::module_& module) {
  using nb::arg;
  nb::class_<Exchanging>(module, "Exchange", "Named buffers in, their sums over all ranks out.")
      .def(
          "begin",
          [](Exchanging& exchange, std::uint64_t step, std::uint64_t epoch) {
            exchange.get().begin({.step = step, .epoch = epoch});
          },
          arg("step"), arg("epoch"))
      .def("ready", &Exchanging::ready, arg("tensors"), arg("offsets"), arg("buffer").noconvert())
      .def("wait", [](Exchanging& exchange) { return dict_of(exchange.wait()); })
      .def(
          "ways",
          [](const Exchanging& exchange, std::uint64_t step, std::uint64_t epoch) {
            return ways(exchange.get(), {.step = step, .epoch = epoch});
          },
          arg("step"), arg("epoch"))
      .def("save", save)
      .def("load", load, arg("saved"),
           nb::sig("def load(self, saved: collections.abc.Mapping[str, typing.Any]) -> None"))
      .def("close", &Exchanging::close);
  module.def(
      "check_residuals", check_saved, arg("saved"), arg("tensors"),
      nb::sig("def check_residuals(saved: collections.abc.Mapping[str, typing.Any], tensors: "
              "collections.abc.Sequence[typing.Any]) -> None"));
  module.def("make_exchange", make_exchange, arg("net"), arg("plan"), arg("tensors"), arg("seed"),
             arg("channel"), arg("threads"), nb::keep_alive<0, 1>());
}

}  // namespace narrowcast::python
