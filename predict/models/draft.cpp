#include "predict/models/draft.hpp"

#include <fmt/format.h>

#include <utility>

namespace narrowcast {
namespace {

// Of a product with one vector: a multiplication and an addition for each weight.
double product_flops(std::size_t weights) { return 2.0 * static_cast<double>(weights); }

std::size_t places(const ModelDraft::Maps& maps) { return maps.height * maps.width; }

std::size_t windows(std::size_t side, const ModelDraft::Pool& shape) {
  return (side + 2 * shape.pad - shape.kernel) / shape.stride + 1;
}

std::size_t windows_over_border(std::size_t side, const ModelDraft::Pool& shape) {
  return (side + 2 * shape.pad - shape.kernel + shape.stride - 1) / shape.stride + 1;
}

}  // namespace

ModelDraft::ModelDraft(std::string_view name, const Maps& input)
    : model_{.name = std::string(name)}, maps_(input) {}

void ModelDraft::add(ModelLayer layer, double input_flops) {
  layer.backward_flops = 2 * layer.forward_flops - (model_.layers.empty() ? input_flops : 0);
  model_.layers.push_back(std::move(layer));
}

void ModelDraft::convolve(const std::string& name, const Conv& shape) {
  const std::size_t weights = maps_.channels * shape.outputs * shape.kernel * shape.kernel;
  const Pool sizes = {.kernel = (shape.kernel - 1) * shape.dilation + 1,
                      .stride = shape.stride,
                      .pad = shape.pad.value_or(shape.kernel / 2 * shape.dilation)};
  maps_ = {shape.outputs, windows(maps_.height, sizes), windows(maps_.width, sizes)};
  const double flops = product_flops(weights) * static_cast<double>(places(maps_));
  add({.name = name, .tensors = {{name + ".weight", weights}}, .forward_flops = flops}, flops);
}

ModelDraft& ModelDraft::conv(const std::string& name, const Conv& shape) {
  convolve(name, shape);
  model_.layers.back().tensors.push_back({name + ".bias", shape.outputs});
  return *this;
}

ModelDraft& ModelDraft::conv_norm(const std::string& name, const Conv& shape) {
  convolve(name + ".conv", shape);
  const std::string norm = name + ".norm";
  const std::size_t values = maps_.channels * places(maps_);
  add({.name = norm,
       .tensors = {{norm + ".weight", shape.outputs}, {norm + ".bias", shape.outputs}},
       .forward_flops = kNormFlops * static_cast<double>(values)},
      0);
  return *this;
}

ModelDraft& ModelDraft::local(const std::string& name, std::size_t outputs) {
  constexpr std::size_t kKernel = 3;
  const std::size_t weights = places(maps_) * maps_.channels * kKernel * kKernel * outputs;
  const double flops = product_flops(weights);
  add({.name = name,
       .tensors = {{name + ".weight", weights}, {name + ".bias", places(maps_) * outputs}},
       .forward_flops = flops},
      flops);
  maps_.channels = outputs;
  return *this;
}

ModelDraft& ModelDraft::linear(const std::string& name, std::size_t outputs) {
  const std::size_t inputs = maps_.channels * places(maps_);
  const double flops = product_flops(inputs * outputs);
  add({.name = name,
       .tensors = {{name + ".weight", inputs * outputs}, {name + ".bias", outputs}},
       .forward_flops = flops,
       .inputs = inputs,
       .outputs = outputs},
      flops);
  maps_ = {outputs, 1, 1};
  return *this;
}

ModelDraft& ModelDraft::lstm(const std::string& name, std::size_t cells, int layers) {
  const auto steps = static_cast<double>(maps_.height);
  const std::size_t gates = 4 * cells;
  std::size_t inputs = maps_.channels * maps_.width;
  for (int number = 0; number < layers; ++number) {
    const auto tensor = [&](std::string_view what) {
      return fmt::format("{}.{}_l{}", name, what, number);
    };
    const double input_flops = steps * product_flops(inputs * gates);
    add({.name = fmt::format("{}.l{}", name, number),
         .tensors = {{tensor("weight_ih"), inputs * gates},
                     {tensor("weight_hh"), cells * gates},
                     {tensor("bias_ih"), gates},
                     {tensor("bias_hh"), gates}},
         .forward_flops = input_flops + steps * product_flops(cells * gates),
         .launches = steps},
        input_flops);
    inputs = cells;
  }
  maps_ = {cells, 1, 1};
  return *this;
}

ModelDraft& ModelDraft::pool(const Pool& shape) {
  maps_.height = windows(maps_.height, shape);
  maps_.width = windows(maps_.width, shape);
  return *this;
}

ModelDraft& ModelDraft::pool_over_border(const Pool& shape) {
  maps_.height = windows_over_border(maps_.height, shape);
  maps_.width = windows_over_border(maps_.width, shape);
  return *this;
}

ModelDraft& ModelDraft::global_pool() {
  maps_.height = 1;
  maps_.width = 1;
  return *this;
}

ModelDraft& ModelDraft::go_on_from(const Maps& maps) {
  maps_ = maps;
  return *this;
}

}  // namespace narrowcast
