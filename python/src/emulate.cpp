#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "emulate/gemm.hpp"
#include "emulate/nodes.hpp"
#include "python/src/arrays.hpp"
#include "python/src/parts.hpp"

namespace narrowcast::python {
namespace {

namespace nb = nanobind;

// Whose dice are thrown, see base/random.hpp.
struct Thrower {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::uint64_t tensor = 0;

  Stream stream() const { return stream_of({.seed = seed, .step = step, .tensor = tensor}); }
};

struct Product {
  std::size_t rows = 0;
  std::size_t terms = 0;
  std::size_t columns = 0;
  std::string product;
  std::string sum;
  bool kahan = false;
  std::optional<FloatsIn> bias;
  Thrower thrower;
  int threads = 1;
};

struct Total {
  std::string spec;
  bool ring = false;
  int group = 0;
  bool kahan = false;
  bool aps = false;
  Thrower thrower;
  int threads = 1;
};

Compensation compensation_of(bool kahan) {
  return kahan ? Compensation::kahan : Compensation::none;
}

// Every `row` values by themselves: blocks begin anew.
void cast(const FloatsIn& values, const FloatsOut& out, const std::string& spec,
          const Thrower& thrower, std::size_t row) {
  require(out.size() == values.size(), Fault::usage, "there must be as many results as values");
  const nb::gil_scoped_release free;
  const std::unique_ptr<Codec> codec = make_codec(spec);
  const Encoding how{.stream = thrower.stream()};
  for (std::size_t first = 0; first < values.size(); first += row)
    codec->quantize(span_of(values).subspan(first, row), span_of(out).subspan(first, row), how);
}

void product(const FloatsIn& a, const FloatsIn& b, const FloatsOut& out, const Product& how) {
  const nb::gil_scoped_release free;
  const std::unique_ptr<Codec> of_products = make_codec(how.product);
  const std::unique_ptr<Codec> of_sums = make_codec(how.sum);
  Team team(how.threads);
  gemm(row_major(span_of(a), how.rows, how.terms), row_major(span_of(b), how.terms, how.columns),
       span_of(out),
       {.product = of_products.get(),
        .sum = of_sums.get(),
        .compensation = compensation_of(how.kahan),
        .stream = how.thrower.stream(),
        .bias = how.bias ? span_of(*how.bias) : Floats{}},
       team);
}

int total(const std::vector<FloatsIn>& nodes, const FloatsOut& out, const Total& how) {
  const nb::gil_scoped_release free;
  std::vector<Floats> shares;
  for (const FloatsIn& node : nodes) shares.push_back(span_of(node));
  const std::unique_ptr<Codec> codec = make_codec(how.spec);
  Team team(how.threads);
  return sum_nodes(shares, span_of(out),
                   {.codec = codec.get(),
                    .order = how.ring ? Order::ring : Order::hierarchy,
                    .group = how.group,
                    .compensation = compensation_of(how.kahan),
                    .scaling = how.aps ? Scaling::aps : Scaling::none,
                    .seed = how.thrower.seed,
                    .step = how.thrower.step,
                    .tensor = how.thrower.tensor},
                   team);
}

}  // namespace

void add_emulate(nb::module_& module) {
  using nb::arg;
  nb::class_<Thrower>(module, "Thrower")
      .def(nb::init<std::uint64_t, std::uint64_t, std::uint64_t>(), arg("seed"), arg("step"),
           arg("tensor"));
  nb::class_<Product>(module, "Product")
      .def(nb::init<std::size_t, std::size_t, std::size_t, std::string, std::string, bool,
                    std::optional<FloatsIn>, Thrower, int>(),
           arg("rows"), arg("terms"), arg("columns"), arg("product"), arg("sum"), arg("kahan"),
           arg("bias").none(), arg("thrower"), arg("threads"));
  nb::class_<Total>(module, "Total")
      .def(nb::init<std::string, bool, int, bool, bool, Thrower, int>(), arg("spec"), arg("ring"),
           arg("group"), arg("kahan"), arg("aps"), arg("thrower"), arg("threads"));
  module.def("cast", cast, arg("values"), arg("out"), arg("spec"), arg("thrower"), arg("row"));
  module.def("product", product, arg("a"), arg("b"), arg("out"), arg("how"));
  module.def("total", total, arg("nodes"), arg("out"), arg("how"));
}

}  // namespace narrowcast::python
