#include "predict/calibrate.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "predict/measure/measure.hpp"

namespace narrowcast {
namespace {

constexpr std::array<std::string_view, 12> kCodecs{
    "fp32",        "fp16",        "bf16",        "dynamic8",          "linear8",       "bnb8",
    "qsgd:bits=8", "qsgd:bits=4", "qsgd:bits=2", "onebit:column=512", "float:e=4,m=3", "e4m3"};

// Of all ranks but this one: those that are near, or those that are not.
enum class Where { near, far };
std::vector<int> peers(const Transport& net, int machine_workers, Where where) {
  std::vector<int> found;
  for (int peer = 0; peer < net.size(); ++peer) {
    const bool near = peer / machine_workers == net.rank() / machine_workers;
    if (peer != net.rank() && near == (where == Where::near)) found.push_back(peer);
  }
  return found;
}

// Ranks that share a core get a half or a third of it: what is nearly that is meant.
double tidy_cores(double cores) {
  const double whole = cores >= 1 ? std::round(cores) : 1 / std::round(1 / cores);
  return std::abs(whole - cores) < 0.1 * cores ? whole : cores;
}

// All ranks measure the same: machines have to be alike.
void require_alike(const Transport& net, Roundtable& table, int machine_workers) {
  const double own = machine_workers;
  const std::vector<double> found = table.largest({own, -own});
  require(found[0] == -found[1] && net.size() % machine_workers == 0, Fault::usage,
          "only machines with as many workers each can be calibrated");
}

void measure_links(Transport& net, Roundtable& table, const CalibrationOptions& options,
                   Profile& profile) {
  require_alike(net, table, options.machine_workers);
  const std::vector<int> near = peers(net, options.machine_workers, Where::near);
  const std::vector<int> far = peers(net, options.machine_workers, Where::far);
  CalibrationOptions half = options;
  if (!near.empty() && !far.empty()) half.seconds /= 2;
  if (!near.empty()) profile.machine = measure_link(net, near, table, half);
  half.channel += 2;
  if (!far.empty()) profile.network = measure_link(net, far, table, half);
  // Where there is only one kind of link, the other is never asked for.
  if (near.empty()) profile.machine = profile.network;
  if (far.empty()) profile.network = profile.machine;
}

}  // namespace

std::span<const std::string_view> usual_codecs() { return kCodecs; }

Profile calibrate(Transport& net, std::span<const std::string> codecs,
                  const CalibrationOptions& options) {
  require(net.size() >= 2, Fault::usage,
          "there is nothing to calibrate between fewer than two workers");
  require(options.machine_workers >= 1, Fault::usage, "a machine has at least one worker");
  Roundtable table(net, options.channel);
  Profile profile{.name = "calibrated", .machine_workers = options.machine_workers};
  profile.cores = tidy_cores(measure_cores(table));
  measure_links(net, table, options, profile);
  for (const std::string& codec : codecs) {
    table.meet();
    CodecSpeed speed = measure_codec(codec, options.seconds / static_cast<double>(codecs.size()));
    const std::vector<double> mean = table.mean(
        {speed.encode_ns, speed.decode_ns, speed.add_ns, speed.feedback_ns, speed.spread});
    profile.codecs.push_back({speed.codec, mean[0], mean[1], mean[2], mean[3], mean[4]});
  }
  return profile;
}

}  // namespace narrowcast
