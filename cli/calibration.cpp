#include "cli/calibration.hpp"

#include "predict/calibrate.hpp"
#include "run/trainer.hpp"

namespace narrowcast::cli {
namespace {

// Beyond those of training, which may follow on the same ranks. A conversation has several channels for
// its number, and these lie beyond them.
constexpr Channel kFirstConversation = 0x1000'0000;
constexpr Channel kFirstChannel = 0x8000'0000;

}  // namespace

Profile calibrate_all(Transport& net, const Calibration& calibration) {
  std::vector<std::string> codecs = calibration.codecs;
  if (codecs.empty()) codecs.assign(usual_codecs().begin(), usual_codecs().end());
  Profile profile = calibrate(net, codecs,
                              {.machine_workers = calibration.machine_workers,
                               .process_ranks = calibration.process_ranks,
                               .channel = kFirstChannel,
                               .seconds = calibration.seconds});
  Channel channel = kFirstConversation;
  for (const Run& run : calibration.runs)
    profile.models.push_back(
        measure({.run = run, .net = net, .channel = channel++, .seconds = calibration.seconds}));
  return profile;
}

}  // namespace narrowcast::cli
