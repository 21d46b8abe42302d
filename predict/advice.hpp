#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "predict/forecast.hpp"

// Whether to compress, and how.
namespace narrowcast {

struct Wish {
  std::string model;
  int batch = 0;  // of a worker; 0: as the profile measured it
  int workers = 2;
  std::vector<std::string> codecs = {};  // to choose from; empty: all of the profile, fp32 always
  // The most that rounding may change a gradient by: root mean square of a normal one, as a part of it.
  double max_error = std::numeric_limits<double>::infinity();
};

// One way to do it.
struct Candidate {
  std::string codec;
  double error = 0;  // as Wish::max_error has it
  Plan plan = {};
  Forecast forecast = {};
};

enum class Verdict { compress, do_not_compress };

struct Advice {
  Verdict verdict = Verdict::do_not_compress;
  Candidate best;                  // what to do; fp32 when compressing does not pay
  Candidate plain;                 // the quickest in fp32
  Candidate narrow;                // the quickest that is not, whether it pays or not
  Gain gain;                       // of narrow over plain
  std::string_view dominant = {};  // of the best one's step
  double flips_at =
      0;  // bytes a second of the links, see break_even(): above it narrow gains too little; 0, infinity
  std::vector<std::string> kept =
      {};                           // tensors that stay in fp32 because they hide behind computing
  std::vector<Candidate> all = {};  // the quickest of each codec, by step
};

// Less is not worth the rounding.
inline constexpr double kWorthwhileGain = 1.03;

Advice advise(const Profile& profile, const Wish& wish);

// Root mean square of what rounding changes in normal values, as a part of theirs.
double rounding_error(const std::string& codec);

}  // namespace narrowcast
