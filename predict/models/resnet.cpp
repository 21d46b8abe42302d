#include <fmt/format.h>

#include <array>

#include "predict/models/draft.hpp"
#include "predict/models/tables.hpp"

// Residual networks (He et al., 2016), and the fully convolutional one that stands on them.
namespace narrowcast {
namespace {

struct Block {
  std::string name;
  std::size_t width = 0;
  std::size_t stride = 1;
  std::size_t dilation = 1;
};

void add_projection(ModelDraft& draft, const Block& block, const ModelDraft::Maps& input) {
  const ModelDraft::Maps output = draft.maps();
  if (input.channels == output.channels) return;
  draft.go_on_from(input).conv_norm(
      block.name + ".shortcut", {.outputs = output.channels, .kernel = 1, .stride = block.stride});
}

// Its shortcut has no parameters.
void add_slim(ModelDraft& draft, const Block& block) {
  draft.conv_norm(block.name + ".residual.conv1", {.outputs = block.width, .stride = block.stride})
      .conv_norm(block.name + ".residual.conv2", {.outputs = block.width});
}

void add_plain(ModelDraft& draft, const Block& block) {
  const ModelDraft::Maps input = draft.maps();
  add_slim(draft, block);
  add_projection(draft, block, input);
}

void add_bottleneck(ModelDraft& draft, const Block& block) {
  const ModelDraft::Maps input = draft.maps();
  draft.conv_norm(block.name + ".residual.conv1", {.outputs = block.width, .kernel = 1})
      .conv_norm(block.name + ".residual.conv2",
                 {.outputs = block.width, .stride = block.stride, .dilation = block.dilation})
      .conv_norm(block.name + ".residual.conv3", {.outputs = 4 * block.width, .kernel = 1});
  add_projection(draft, block, input);
}

struct Stage {
  int number = 1;
  int blocks = 0;
  std::size_t width = 0;
  std::size_t stride = 1;  // of the first block
  std::size_t dilation = 1;
  void (*add)(ModelDraft& draft, const Block& block) = nullptr;
};

void add_stage(ModelDraft& draft, const Stage& stage) {
  for (int block = 1; block <= stage.blocks; ++block)
    stage.add(draft, {.name = fmt::format("features.stage{}_block{}", stage.number, block),
                      .width = stage.width,
                      .stride = block == 1 ? stage.stride : 1,
                      .dilation = stage.dilation});
}

Model slim_resnet(std::string_view name, int blocks) {
  ModelDraft draft(name, {3, 32, 32});
  draft.conv_norm("features.stem", {.outputs = 16});
  for (int stage = 1; stage <= 3; ++stage)
    add_stage(draft, {.number = stage,
                      .blocks = blocks,
                      .width = std::size_t{8} << stage,
                      .stride = stage == 1 ? 1u : 2u,
                      .add = add_slim});
  return draft.global_pool().linear("classifier.fc", 10).done();
}

enum class LastStages { strided, dilated };

ModelDraft deep_body(std::string_view name, const std::array<int, 4>& blocks, LastStages last) {
  ModelDraft draft(name, {3, 224, 224});
  draft.conv_norm("features.stem", {.outputs = 64, .kernel = 7, .stride = 2})
      .pool({.kernel = 3, .stride = 2, .pad = 1});
  for (int stage = 1; stage <= 4; ++stage) {
    const bool dilated = last == LastStages::dilated && stage >= 3;
    add_stage(draft, {.number = stage,
                      .blocks = blocks[static_cast<std::size_t>(stage - 1)],
                      .width = std::size_t{32} << stage,
                      .stride = stage == 1 || dilated ? 1u : 2u,
                      .dilation = dilated ? std::size_t{1} << (stage - 2) : 1,
                      .add = add_bottleneck});
  }
  return draft;
}

Model deep_resnet(std::string_view name, const std::array<int, 4>& blocks) {
  return deep_body(name, blocks, LastStages::strided)
      .global_pool()
      .linear("classifier.fc", 1000)
      .done();
}

}  // namespace

Model resnet20_table() { return slim_resnet("resnet20", 3); }

Model resnet110_table() { return slim_resnet("resnet110", 18); }

// For CIFAR: the stem keeps the size of the image.
Model resnet18_table() {
  ModelDraft draft("resnet18", {3, 32, 32});
  draft.conv_norm("features.stem", {.outputs = 64});
  for (int stage = 1; stage <= 4; ++stage)
    add_stage(draft, {.number = stage,
                      .blocks = 2,
                      .width = std::size_t{32} << stage,
                      .stride = stage == 1 ? 1u : 2u,
                      .add = add_plain});
  return draft.global_pool().linear("classifier.fc", 10).done();
}

Model resnet50_table() { return deep_resnet("resnet50", {3, 4, 6, 3}); }

Model resnet152_table() { return deep_resnet("resnet152", {3, 8, 36, 3}); }

// Long et al. (2015) on ResNet-50: scores for every eighth pixel.
Model fcn_table() {
  return deep_body("fcn", {3, 4, 6, 3}, LastStages::dilated)
      .conv_norm("features.head", {.outputs = 512})
      .conv("features.score", {.outputs = 19, .kernel = 1})
      .done();
}

}  // namespace narrowcast
