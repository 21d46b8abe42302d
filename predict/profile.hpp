#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What a system of workers can do: the numbers that a prediction is made from, and the TOML of them
// (docs/prediction.md).
namespace narrowcast {

// How far apart repeated measurements lay, as a part of their median: 0.05 is five per cent. Intervals
// of predictions come from these.
using Spread = double;
inline constexpr Spread kMostSpread = 2;

// From one worker to another.
struct LinkProfile {
  double latency_us = 0;          // before the first byte
  double bandwidth = 0;           // bytes a second, one way
  bool duplex = true;             // both ways at once
  int sharing = 1;                // workers that share it
  double cpu_ns_per_byte = 0;     // of a worker's core, for each byte sent and for each received
  double cpu_us_per_message = 0;  // likewise
  Spread spread = 0;
  bool operator==(const LinkProfile&) const = default;
};

// Nanoseconds a value, of one core (or of the GPU).
struct CodecSpeed {
  std::string codec;  // a spec; "*" stands for all that are not there
  double encode_ns = 0;
  double decode_ns = 0;
  double add_ns = 0;       // decode and add
  double feedback_ns = 0;  // more when what rounding lost is kept
  Spread spread = 0;
  bool operator==(const CodecSpeed&) const = default;
};

// From the floating-point operations of a layer, where nobody measured it.
struct ComputeProfile {
  double flops = 0;        // a second, that a worker reaches
  double overhead_us = 0;  // of each layer, step of a sequence and direction: launches
  double straggler = 0;    // standard deviation of a worker's compute from step to step, as a part
  Spread spread = 0;
  bool operator==(const ComputeProfile&) const = default;
};

// When a gradient was there, counted from the beginning of back-propagation.
struct MeasuredTensor {
  std::string name;
  std::size_t elements = 0;
  double ready_ms = 0;
  bool operator==(const MeasuredTensor&) const = default;
};

// A network's step as it was measured on one worker while all others computed, too.
struct MeasuredModel {
  std::string name;
  int batch = 0;          // of a worker
  double forward_ms = 0;  // to the beginning of back-propagation
  double backward_ms = 0;
  double rest_ms = 0;    // optimiser, next batch
  double straggler = 0;  // as in ComputeProfile
  Spread spread = 0;
  std::vector<MeasuredTensor> tensors = {};  // in the order in which they were ready
  bool operator==(const MeasuredModel&) const = default;
};

struct Profile {
  std::string name;
  std::string source = {};   // where the figures come from
  int machine_workers = 1;   // workers of one machine
  double cores = 2;          // of a worker: below 2, computing and communicating share them
  double price = 0;          // US dollars for an hour of one machine; 0: nobody knows
  LinkProfile machine = {};  // within
  LinkProfile network = {};  // across
  std::vector<CodecSpeed> codecs = {};
  ComputeProfile compute = {};
  std::vector<MeasuredModel> models = {};
  bool operator==(const Profile&) const = default;
};

// Unknown keys, missing, negative and absurd values are Fault::usage, one line with `origin`, line and
// key. parse_profile() of to_toml() gives the same profile.
Profile parse_profile(std::string_view toml, std::string_view origin);
std::string to_toml(const Profile& profile);

struct ProfileRow {
  std::string_view name;
  std::string_view summary;
  std::string_view toml;
};
std::span<const ProfileRow> profiles();  // that come along

// A shipped one by its name, else a file. Fault::usage for what is neither lists the names.
Profile find_profile(const std::string& name_or_file);

// US dollars for an hour of one worker: its part of a machine. Not there where nobody knows.
std::optional<double> price_of_worker(const Profile& profile);

// Fault::usage says how to get one.
const CodecSpeed& speed_of(const Profile& profile, std::string_view codec);

}  // namespace narrowcast
