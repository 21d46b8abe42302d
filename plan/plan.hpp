#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/scale.hpp"

// The face of this room: which tensor travels how, and when. Pure data and arithmetic, and the TOML
// of it (docs/plan.md).
namespace narrowcast {

enum class Feedback { off, on };  // what rounding lost is added to the next step's values

// How values travel.
struct Way {
  std::string codec = "fp32";  // a spec
  Scaling scaling = Scaling::none;
  Feedback feedback = Feedback::off;
  bool operator==(const Way&) const = default;
};

enum class Unit { step, epoch };

// Holds from that step or epoch on, until the next one.
struct Change {
  std::uint64_t from = 0;
  Way way;
  bool operator==(const Change&) const = default;
};

struct Rule {
  std::string pattern;  // of tensor names: * stands for any text, ? for one character
  Way way;              // until the first change
  Unit unit = Unit::epoch;
  std::vector<Change> schedule = {};  // ascending
  bool operator==(const Rule&) const = default;
};

// What workers divide among themselves: the images, the layers, or images first and layers then.
enum class Parallel { data, model, hybrid };

// Which side of a fully connected layer's matrix they divide: activations are put together, or summed.
enum class Split { output, input };

enum class Total { sum, average };

enum class NonFinitePolicy {
  propagate,  // it reaches every rank as non-finite, and training goes on
  skip_step,  // no rank uses the step's sums, residuals stay as they were
  fail,       // every rank stops, naming the tensor
};

struct Plan {
  std::vector<Rule> rules = {};         // the first that matches; none: fp32
  std::size_t min_elements = 10'000;    // smaller tensors travel in fp32, whatever the rules say
  std::string algorithm = "direct";     // of collective/, or "auto"
  int group = 0;                        // ranks of a machine, for the hierarchy; 0: all
  std::size_t fusion_bytes = 4u << 20;  // of values in one fused buffer
  Total total = Total::average;
  NonFinitePolicy non_finite = NonFinitePolicy::propagate;
  std::chrono::milliseconds deadline = std::chrono::minutes(5);  // for a silent rank
  std::string key_file = {};
  Way activations = {};  // of model parallelism, forward
  Way errors = {};       // and backward
  bool operator==(const Plan&) const = default;
};

// With feedback where a codec does not learn without it (1-bit SGD).
Way usual_way(std::string_view codec);

// Every tensor in that way.
Plan plan_for(const Way& way);

// Unknown keys, values that do not fit and codecs that do not exist are Fault::usage, one line that
// starts with `origin` and the line number, and lists what would fit.
Plan parse_plan(std::string_view toml, std::string_view origin);
Plan read_plan(const std::filesystem::path& file);

// All of it, defaults too: parse_plan() of this gives the same plan.
std::string to_toml(const Plan& plan);

// Sets one of the plain keys at the top ("algorithm", "fusion", ...) from text, as the command line
// and NARROWCAST_PLAN_<KEY> do. Fault::usage, starting with `origin`.
void set_key(Plan& plan, std::string_view key, std::string_view value, std::string_view origin);

// What plain keys there are.
std::span<const std::string_view> plan_keys();

struct Moment {
  std::uint64_t step = 0;   // since the beginning of training
  std::uint64_t epoch = 0;  // from 0
};

// How that tensor travels then.
const Way& way_of(const Plan& plan, std::string_view tensor, std::size_t elements,
                  const Moment& moment);

// Which tensors go into which fused buffer, in their order: a buffer is closed as soon as it has
// `fusion_bytes` of float32.
std::vector<std::vector<std::size_t>> fuse(std::span<const std::size_t> elements,
                                           std::size_t fusion_bytes);

}  // namespace narrowcast
