#include "run/trainer.hpp"

#include <string>

#include "base/version.hpp"
#include "transport/module.hpp"

namespace narrowcast {
namespace {

constexpr Module kModule{.name = "train", .package = "libtorch-dev libopenblas0-pthread"};

}  // namespace

void train(const Run& run, const Surroundings& around) {
  const std::string own_version(version());
  const auto start = reinterpret_cast<ModuleTrain>(load_from(kModule, "narrowcast_train"));
  start(run, around, own_version.c_str());
}

bool can_train() { return !find_module(kModule.name).empty(); }

}  // namespace narrowcast
