#include "codec/distortion.hpp"

#include <cmath>
#include <limits>

#include "base/error.hpp"

namespace narrowcast {
namespace {

double mean(double sum, std::size_t count) {
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

}  // namespace

void Distortion::add(Floats exact, Floats decoded) {
  require(exact.size() == decoded.size(), Fault::usage,
          "distortion: exact and decoded values differ in number");
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double x = exact[i];
    const double y = decoded[i];
    const double error = y - x;
    const double size = std::abs(error);
    absolute_ += size;
    squared_ += error * error;
    signed_ += error;
    signal_ += x * x;
    decoded_ += y * y;
    product_ += x * y;
    if (x != 0) {
      relative_ += size / std::abs(x);
      ++nonzero_;
    }
    // Written so that a NaN enters, and then stays.
    if (!(size <= max_absolute_) && !std::isnan(max_absolute_)) max_absolute_ = size;
  }
  count_ += exact.size();
}

double Distortion::mean_absolute() const { return mean(absolute_, count_); }
double Distortion::mean_squared() const { return mean(squared_, count_); }
double Distortion::mean_relative() const { return mean(relative_, nonzero_); }
double Distortion::bias() const { return mean(signed_, count_); }

double Distortion::signal_to_noise_db() const {
  if (squared_ == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(signal_ / squared_);
}

double Distortion::cosine() const {
  // Two zero vectors are the same vector; a zero vector has no direction in common with another.
  if (signal_ == 0 || decoded_ == 0) return signal_ == decoded_ ? 1 : 0;
  return product_ / (std::sqrt(signal_) * std::sqrt(decoded_));
}

}  // namespace narrowcast
