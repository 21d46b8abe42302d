#include "predict/advice.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "predict/calibrate.hpp"
#include "python/src/net.hpp"
#include "python/src/parts.hpp"
#include "python/src/plans.hpp"

namespace narrowcast::python {
namespace {

namespace nb = nanobind;

constexpr const char* kModel = "model";
// Beyond those of any conversation.
constexpr Channel kFirstChannel = 0x8000'0000;

using NamedThings = nb::typed<nb::dict, nb::str, nb::any>;
using ReadyTensor = std::tuple<std::string, std::size_t, double>;

MeasuredModel* make_model(double forward_ms, double backward_ms, double rest_ms,
                          const std::vector<ReadyTensor>& tensors) {
  auto model = std::make_unique<MeasuredModel>();
  model->name = kModel;
  model->batch = 1;
  model->forward_ms = forward_ms;
  model->backward_ms = backward_ms;
  model->rest_ms = rest_ms;
  for (const auto& [name, elements, ready_ms] : tensors)
    model->tensors.push_back({.name = name, .elements = elements, .ready_ms = ready_ms});
  return model.release();
}

NamedThings dict_of(const Advice& advice) {
  NamedThings out;
  out["compress"] = advice.verdict == Verdict::compress;
  out["codec"] = advice.best.codec;
  out["plan"] = nb::cast(seen_by_all(advice.best.plan));
  out["step_ms"] = advice.best.forecast.step;
  out["fp32_step_ms"] = advice.plain.forecast.step;
  out["gain"] = advice.gain.times;
  out["dominant"] = std::string(advice.dominant);
  return out;
}

// Measures links and codecs, all ranks together, and decides. `model` is equal on all ranks.
NamedThings advise_on(const Net& net, const MeasuredModel& model,
                      const std::vector<std::string>& codecs, std::optional<double> max_error,
                      int machine_workers, double seconds) {
  Advice advice;
  {
    const nb::gil_scoped_release free;
    std::vector<std::string> measured = {"fp32"};
    measured.insert(measured.end(), codecs.begin(), codecs.end());
    Profile profile = calibrate(
        net.transport(), measured,
        {.machine_workers = machine_workers, .channel = kFirstChannel, .seconds = seconds});
    profile.models.push_back(model);
    advice =
        advise(profile, {.model = kModel,
                         .workers = net.transport().size(),
                         .codecs = codecs,
                         .max_error = max_error.value_or(std::numeric_limits<double>::infinity())});
  }
  return dict_of(advice);
}

}  // namespace

void add_advice(nb::module_& module) {
  using nb::arg;
  nb::class_<MeasuredModel>(module, "MeasuredModel", "A network's step, as it was measured.")
      .def_ro("forward_ms", &MeasuredModel::forward_ms)
      .def_ro("backward_ms", &MeasuredModel::backward_ms)
      .def_ro("rest_ms", &MeasuredModel::rest_ms);
  module.def("measured_model", make_model, arg("forward_ms"), arg("backward_ms"), arg("rest_ms"),
             arg("tensors"), nb::rv_policy::take_ownership);
  module.def("advise", advise_on, arg("net"), arg("model"), arg("codecs"), arg("max_error").none(),
             arg("machine_workers"), arg("seconds"));
}

}  // namespace narrowcast::python
