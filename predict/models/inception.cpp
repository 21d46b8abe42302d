#include "predict/models/draft.hpp"
#include "predict/models/tables.hpp"

// Ioffe and Szegedy (2015), the network that batch normalisation came with.
namespace narrowcast {
namespace {

// Channels of each branch. Modules without `single` and `pooled` halve the size, and what they pool
// they pass on.
struct Module {
  const char* name;
  std::size_t single;         // 1x1
  std::size_t reduced;        // 1x1, and then
  std::size_t triple;         // 3x3
  std::size_t twice_reduced;  // 1x1, and then
  std::size_t twice;          // two of 3x3
  std::size_t pooled;         // pooling and 1x1
};

// As Caffe's model of it has them.
constexpr Module kModules[] = {
    {"features.inception3a", 64, 64, 64, 64, 96, 32},
    {"features.inception3b", 64, 64, 96, 64, 96, 64},
    {"features.inception3c", 0, 128, 160, 64, 96, 0},
    {"features.inception4a", 224, 64, 96, 96, 128, 128},
    {"features.inception4b", 192, 96, 128, 96, 128, 128},
    {"features.inception4c", 160, 128, 160, 128, 160, 128},
    {"features.inception4d", 96, 128, 192, 160, 192, 128},
    {"features.inception4e", 0, 128, 192, 192, 256, 0},
    {"features.inception5a", 352, 192, 320, 160, 224, 128},
    {"features.inception5b", 352, 192, 320, 192, 224, 128},
};

void add_module(ModelDraft& draft, const Module& module) {
  const std::string name = module.name;
  const ModelDraft::Maps input = draft.maps();
  const bool halves = module.single == 0;
  const std::size_t stride = halves ? 2 : 1;
  if (!halves) draft.conv_norm(name + ".single", {.outputs = module.single, .kernel = 1});
  draft.go_on_from(input)
      .conv_norm(name + ".triple.reduce", {.outputs = module.reduced, .kernel = 1})
      .conv_norm(name + ".triple.conv", {.outputs = module.triple, .stride = stride});
  draft.go_on_from(input)
      .conv_norm(name + ".twice.reduce", {.outputs = module.twice_reduced, .kernel = 1})
      .conv_norm(name + ".twice.conv1", {.outputs = module.twice})
      .conv_norm(name + ".twice.conv2", {.outputs = module.twice, .stride = stride});
  ModelDraft::Maps output = draft.maps();
  if (!halves)
    draft.go_on_from(input).conv_norm(name + ".pool.conv", {.outputs = module.pooled, .kernel = 1});
  output.channels =
      module.single + module.triple + module.twice + (halves ? input.channels : module.pooled);
  draft.go_on_from(output);
}

}  // namespace

Model bn_inception_table() {
  const ModelDraft::Pool pool = {.kernel = 3, .stride = 2};
  ModelDraft draft("bn-inception", {3, 224, 224});
  draft.conv_norm("features.conv1", {.outputs = 64, .kernel = 7, .stride = 2})
      .pool_over_border(pool)
      .conv_norm("features.conv2_reduce", {.outputs = 64, .kernel = 1})
      .conv_norm("features.conv2", {.outputs = 192})
      .pool_over_border(pool);
  for (const Module& module : kModules) add_module(draft, module);
  return draft.global_pool().linear("classifier.fc", 1000).done();
}

}  // namespace narrowcast
