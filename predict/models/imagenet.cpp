#include <fmt/format.h>

#include "predict/models/draft.hpp"
#include "predict/models/tables.hpp"

// Convolutions and three large fully connected layers.
namespace narrowcast {
namespace {

constexpr std::size_t kClasses = 1000;

Model three_layers(ModelDraft& draft, std::size_t hidden) {
  return draft.linear("classifier.fc6", hidden)
      .linear("classifier.fc7", hidden)
      .linear("classifier.fc8", kClasses)
      .done();
}

// Without the groups that split it over two cards.
Model alexnet_of(std::string_view name, std::size_t hidden) {
  const ModelDraft::Pool pool = {.kernel = 3, .stride = 2};
  ModelDraft draft(name, {3, 227, 227});
  draft.conv("features.conv1", {.outputs = 96, .kernel = 11, .stride = 4, .pad = 2})
      .pool(pool)
      .conv("features.conv2", {.outputs = 256, .kernel = 5})
      .pool(pool)
      .conv("features.conv3", {.outputs = 384})
      .conv("features.conv4", {.outputs = 384})
      .conv("features.conv5", {.outputs = 256})
      .pool(pool);
  return three_layers(draft, hidden);
}

}  // namespace

Model alexnet_table() { return alexnet_of("alexnet", 4096); }

// His paper gives the fully connected layers only.
Model d16_alexnet_table() { return alexnet_of("d16-alexnet", 3072); }

// Simonyan and Zisserman (2015), configuration E.
Model vgg19_table() {
  struct Stage {
    int convolutions;
    std::size_t width;
  };
  constexpr Stage kStages[] = {{2, 64}, {2, 128}, {4, 256}, {4, 512}, {4, 512}};
  ModelDraft draft("vgg19", {3, 224, 224});
  int number = 0;
  for (const Stage& stage : kStages) {
    ++number;
    for (int i = 1; i <= stage.convolutions; ++i)
      draft.conv(fmt::format("features.conv{}_{}", number, i), {.outputs = stage.width});
    draft.pool({.kernel = 2, .stride = 2});
  }
  return three_layers(draft, 4096);
}

}  // namespace narrowcast
