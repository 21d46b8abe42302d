// The README's snippets, as tests/package/run has put them beside this file, with what they take for granted.
#include <cmath>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "codec/codec.hpp"
#include "collective/collective.hpp"
#include "transport/inproc.hpp"

std::vector<float> sum_of_one(const std::vector<float>& gradient) {
  std::vector<float> sum(gradient.size());
#include <cpp_1>
  return sum;
}

std::vector<float> sum_of_all(std::unique_ptr<narrowcast::Transport> transport,
                              std::vector<float> gradient) {
  const auto codec = narrowcast::make_codec("qsgd:bits=4");
  std::vector<float> residual(gradient.size());
#include <cpp_2>
  return gradient;
}

// All values are the maximum of their bucket, which qsgd has but for a rounding.
bool all_near(const std::vector<float>& values, float wanted) {
  for (const float value : values)
    if (!(std::abs(value - wanted) < 1e-6F)) return false;
  return true;
}

int main() {
  const std::vector<float> gradient(1000, 0.5F);
  if (!all_near(sum_of_one(gradient), 0.5F)) return 1;

  narrowcast::Hub hub(2);
  std::vector<float> theirs;
  std::jthread other([&] { theirs = sum_of_all(hub.connect(1), gradient); });
  const std::vector<float> ours = sum_of_all(hub.connect(0), gradient);
  other.join();
  if (ours != theirs || !all_near(ours, 1.0F)) return 1;
  std::puts("the snippets of the README work");
}
