// The module that run/trainer.cpp loads.

#include "transport/module.hpp"

#include <malloc.h>

#include <exception>
#include <string>

#include "base/error.hpp"
#include "train/loop/measuring.hpp"
#include "train/loop/trainer.hpp"

namespace {

// Tensors come and go at every step. What the C library gives back to the system and gets again
// costs a page fault for every 4 KiB.
void keep_memory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

template <class Work>
void guarded(const char* version, const Work& work) {
  using narrowcast::Error;
  using narrowcast::Fault;
  narrowcast::check_module_version("train", version);
  keep_memory();
  try {
    work();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    // libtorch explains itself over many lines; the first says what it is.
    const std::string text = error.what();
    throw Error(Fault::system, "libtorch: " + text.substr(0, text.find('\n')));
  }
}

}  // namespace

extern "C" void narrowcast_train(const narrowcast::Run& run, const narrowcast::Surroundings& around,
                                 const char* version) {
  guarded(version, [&] { narrowcast::train_on_rank(run, around); });
}

extern "C" void narrowcast_measure(const narrowcast::Measuring& measuring,
                                   narrowcast::MeasuredModel& result, const char* version) {
  guarded(version, [&] { result = narrowcast::measure_on_rank(measuring); });
}
