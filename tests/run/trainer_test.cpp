#include "run/trainer.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "base/error.hpp"
#include "tests/run/scratch.hpp"
#include "transport/inproc.hpp"

namespace narrowcast::test {
namespace {

using testing::HasSubstr;

class NoListener : public Listener {
  void started(const Started&) override {}
  void step(const StepRecord&) override {}
  void epoch(const EpochRecord&) override {}
  void saved(const std::filesystem::path&, std::uint64_t) override {}
  void finished(const Summary&) override {}
};

TEST(TheTrainer, ThatCannotBeLoadedSaysWhatToInstall) {
  const ScratchFile broken("no library", "narrowcast_train.so");
  ASSERT_EQ(setenv("NARROWCAST_MODULES", broken.path().parent_path().c_str(), 1), 0);
  EXPECT_TRUE(can_train());
  NoListener listener;
  Hub hub(1);
  const auto net = hub.connect(0);
  try {
    train({}, {.net = *net, .listener = listener, .asked = [] { return false; }});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_THAT(error.what(), HasSubstr("libtorch-dev libopenblas0-pthread"));
    EXPECT_THAT(error.what(), HasSubstr(broken.path().string()));
  }
  unsetenv("NARROWCAST_MODULES");
}

}  // namespace
}  // namespace narrowcast::test
