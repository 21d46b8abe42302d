#include "run/trainer.hpp"

#include <fmt/core.h>

#include <string>

#include "base/error.hpp"
#include "base/version.hpp"
#include "run/blas.hpp"
#include "transport/module.hpp"

namespace narrowcast {
namespace {

constexpr Module kModule{.name = "train", .package = "libtorch-dev libopenblas0-pthread"};

void* load(const char* symbol) {
  tell_openblas();
  return load_from(kModule, symbol);
}

}  // namespace

void train(const Run& run, const Surroundings& around) {
  const std::string own_version(version());
  const auto start = reinterpret_cast<ModuleTrain>(load("narrowcast_train"));
  start(run, around, own_version.c_str());
}

MeasuredModel measure(const Measuring& measuring) {
  const std::string own_version(version());
  const auto start = reinterpret_cast<ModuleMeasure>(load("narrowcast_measure"));
  MeasuredModel model;
  start(measuring, model, own_version.c_str());
  return model;
}

bool can_train() { return !find_module(kModule.name).empty(); }

void require_trainer() {
  if (!can_train())
    throw Error(Fault::usage, fmt::format("training needs libtorch: apt-get install {}, then {}",
                                          kModule.package, how_to_build()));
}

}  // namespace narrowcast
