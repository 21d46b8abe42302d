#include <algorithm>

#include "base/error.hpp"
#include "predict/forecast.hpp"

namespace narrowcast {
namespace {

constexpr int kUsualBatch = 32;

void find_connected(const Model& model, Workload& work) {
  double flops = 0;
  for (const ModelLayer& layer : model.layers) {
    if (layer.outputs == 0) continue;
    work.connected.push_back(layer);
    flops += layer.forward_flops + layer.backward_flops;
  }
  work.connected_share = flops / model.flops();
}

Workload from_measurement(const MeasuredModel& measured, int batch) {
  const double times = static_cast<double>(batch) / measured.batch;
  Workload work{.name = measured.name,
                .batch = batch,
                .forward_ms = measured.forward_ms * times,
                .backward_ms = measured.backward_ms * times,
                .rest_ms = measured.rest_ms,  // the optimiser's, whatever the batch
                .straggler = measured.straggler,
                .spread = measured.spread,
                .tensors = measured.tensors};
  for (MeasuredTensor& tensor : work.tensors) tensor.ready_ms *= times;
  // A network of the user's own has no table, and can be trained in data parallelism only.
  const auto row = std::ranges::find(models(), measured.name, &ModelRow::name);
  if (row != models().end()) find_connected(row->make(), work);
  return work;
}

}  // namespace

// Back-propagation goes through the layers from the last to the first.
Workload workload_of(const ComputeProfile& compute, const Model& model, int batch) {
  require(compute.flops > 0, Fault::usage,
          "the profile says neither how quick this network is nor how quick any is: its [compute] "
          "needs flops, or measure it with narrowcast calibrate --net");
  const double ms_a_flop = 1e3 * batch / compute.flops;
  const double overhead = compute.overhead_us / 1e3;
  Workload work{
      .name = model.name, .batch = batch, .straggler = compute.straggler, .spread = compute.spread};
  find_connected(model, work);
  for (const ModelLayer& layer : model.layers)
    work.forward_ms += layer.forward_flops * ms_a_flop + layer.launches * overhead;
  for (std::size_t i = model.layers.size(); i-- > 0;) {
    const ModelLayer& layer = model.layers[i];
    work.backward_ms += layer.backward_flops * ms_a_flop + layer.launches * overhead;
    for (std::size_t k = layer.tensors.size(); k-- > 0;)
      work.tensors.push_back({layer.tensors[k].name, layer.tensors[k].elements, work.backward_ms});
  }
  return work;
}

Workload workload_of(const Profile& profile, std::string_view model, int batch) {
  const auto measured = std::ranges::find(profile.models, model, &MeasuredModel::name);
  if (measured != profile.models.end())
    return from_measurement(*measured, batch > 0 ? batch : measured->batch);
  return workload_of(profile.compute, make_model(model), batch > 0 ? batch : kUsualBatch);
}

}  // namespace narrowcast
