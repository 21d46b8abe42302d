#include <algorithm>
#include <bit>
#include <limits>

#include "base/error.hpp"
#include "collective/chunking.hpp"
#include "collective/cost.hpp"
#include "predict/forecast.hpp"

namespace narrowcast {
namespace {

// Values of one codec in one buffer.
struct Group {
  const Codec* codec = nullptr;
  std::string spec = {};  // as the plan has it
  bool feedback = false;
  std::size_t values = 0;
};

void add(Shipment::Way& way, const Phase& phase) {
  way.messages += static_cast<double>(phase.messages);
  way.bytes += static_cast<double>(phase.bytes);
}

double rounds(const Traffic& traffic, Level level) {
  double sum = 0;
  for (const Phase& phase : traffic.phases)
    if (phase.level == level) sum += static_cast<double>(phase.rounds);
  return sum;
}

// What travels within a machine when its workers are not told apart: of a message to each of the
// others, those to workers of the same machine.
double inside(const Scenario& scenario) {
  if (scenario.workers <= 1) return 1;
  const int together = std::min(scenario.machine_workers, scenario.workers);
  return static_cast<double>(together - 1) / (scenario.workers - 1);
}

class Loader {
 public:
  Loader(const Scenario& scenario, const Profile& profile, TrafficBook& book)
      : scenario_(scenario), book_(book) {
    const CodecSpeed& speed = speed_of(profile, "fp32");
    const auto path = [](const LinkProfile& link) {
      return LinkCost::Path{link.latency_us, link.bandwidth > 0 ? 1e6 / link.bandwidth : 0};
    };
    cost_ = {.machine = path(profile.machine),
             .network = path(profile.network),
             .encode_us = speed.encode_ns / 1e3,
             .decode_us = speed.decode_ns / 1e3};
    how_.group = scenario.plan.group != 0 ? scenario.plan.group : scenario.machine_workers;
  }

  // All-reduce of the tensors of one buffer.
  Shipment reduce(std::span<const MeasuredTensor> tensors) {
    std::vector<Group> groups;
    double ready = 0;
    for (const MeasuredTensor& tensor : tensors) {
      const narrowcast::Way& way =
          way_of(scenario_.plan, tensor.name, tensor.elements, {.step = kLate, .epoch = kLate});
      add_group(groups, {&book_.codec(way.codec), way.codec, way.feedback == Feedback::on,
                         tensor.elements});
      ready = std::max(ready, tensor.ready_ms);
    }
    Shipment shipment = reduce(groups);
    shipment.ready_ms = ready;
    return shipment;
  }

  double fp32_bytes(std::size_t values) {
    const Codec& fp32 = book_.codec("fp32");
    const Piece piece = piece_of(values, fp32);
    return static_cast<double>(traffic(row({&piece, 1}), fp32, values).bytes());
  }

  // Activations or errors, of which every worker ends with all.
  Shipment gather(std::size_t values_of_each, const narrowcast::Way& way) {
    const std::vector<Piece> parts(workers(), piece_of(values_of_each, book_.codec(way.codec)));
    return whole(all_gather_traffic(parts, {}, 0, workers()), way, values_of_each * workers());
  }
  // Sums that every worker ends with.
  Shipment sum(std::size_t values, const narrowcast::Way& way) {
    const Codec& codec = book_.codec(way.codec);
    return whole(traffic(all_reduce_row("direct"), codec, values), way, values);
  }
  // Sums of which every worker keeps a part.
  Shipment scatter(std::size_t values_of_each, const narrowcast::Way& way) {
    const std::vector<Piece> parts(workers(), piece_of(values_of_each, book_.codec(way.codec)));
    return whole(reduce_scatter_traffic(parts, {}, 0, workers()), way, values_of_each * workers());
  }

 private:
  // Schedules have come to their end: predictions are for the long run.
  static constexpr std::uint64_t kLate = std::uint64_t{1} << 62;

  int workers() const { return scenario_.workers; }

  static void add_group(std::vector<Group>& groups, const Group& more) {
    for (Group& group : groups)
      if (group.codec == more.codec && group.feedback == more.feedback) {
        group.values += more.values;
        return;
      }
    groups.push_back(more);
  }

  const Traffic& traffic(const AllReduceRow& all_reduce, const Codec& codec, std::size_t values) {
    return book_.all_reduce({&all_reduce, &codec, values, workers(), how_.group});
  }

  const AllReduceRow& row(Pieces pieces) {
    if (scenario_.plan.algorithm != "auto") return all_reduce_row(scenario_.plan.algorithm);
    // As choose_all_reduce() does it, but for one worker: all are alike, and there may be thousands.
    const AllReduceRow* best = &all_reduces().front();
    double least = std::numeric_limits<double>::infinity();
    for (const AllReduceRow& candidate : all_reduces()) {
      double time = 0;
      for (const Piece& piece : pieces)
        time += cost_us(traffic(candidate, *piece.codec, piece.values.size()), cost_);
      if (time < kClearlyQuicker * least) {
        best = &candidate;
        least = time;
      }
    }
    return *best;
  }

  Shipment reduce(const std::vector<Group>& groups) {
    std::vector<Piece> pieces;
    for (const Group& group : groups) pieces.push_back(piece_of(group.values, *group.codec));
    const AllReduceRow& all_reduce = row(pieces);
    Shipment shipment;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const Traffic& declared = traffic(all_reduce, *groups[i].codec, groups[i].values);
      put(declared, i, shipment);
      take(declared, groups[i], shipment);
    }
    finish(shipment, all_reduce.name == "ring" ? Neighbours::two : Neighbours::all);
    return shipment;
  }

  Shipment whole(const Traffic& traffic, const narrowcast::Way& way, std::size_t values) {
    Shipment shipment;
    put(traffic, 0, shipment);
    take(traffic, {&book_.codec(way.codec), way.codec, false, values}, shipment);
    finish(shipment, Neighbours::all);
    shipment.waits = true;
    return shipment;
  }

  // The pieces of a buffer share their messages: only the first one's rounds count.
  void put(const Traffic& traffic, std::size_t place, Shipment& shipment) const {
    for (const Phase& phase : traffic.phases)
      add(phase.level == Level::machine ? shipment.machine : shipment.network, phase);
    if (place != 0) return;
    shipment.machine.rounds += rounds(traffic, Level::machine);
    shipment.network.rounds += rounds(traffic, Level::network);
  }

  static void take(const Traffic& traffic, const Group& group, Shipment& shipment) {
    Cargo cargo{.codec = group.spec, .feedback = group.feedback};
    for (const Phase& phase : traffic.phases) {
      cargo.encoded += static_cast<double>(phase.encoded);
      cargo.decoded += static_cast<double>(phase.decoded - std::min(phase.decoded, phase.added));
      cargo.added += static_cast<double>(phase.added);
    }
    shipment.cargo.push_back(std::move(cargo));
  }

  // Algorithms other than the hierarchy know no machines: some of their peers are near all the same.
  // In a ring one worker of a machine sends across, all that it sends, and the others wait for it.
  enum class Neighbours { all, two };
  void finish(Shipment& shipment, Neighbours neighbours) const {
    const bool crosses = workers() > scenario_.machine_workers;
    if (neighbours == Neighbours::two && crosses) {
      shipment.alone_on_link = true;
    } else if (shipment.machine.bytes == 0) {
      const double near = inside(scenario_);
      shipment.machine = {near == 1 ? shipment.network.rounds : 0, shipment.network.messages * near,
                          shipment.network.bytes * near};
      shipment.network = {near == 1 ? 0 : shipment.network.rounds,
                          shipment.network.messages * (1 - near),
                          shipment.network.bytes * (1 - near)};
    }
    const double bytes = shipment.machine.bytes + shipment.network.bytes;
    shipment.chunks =
        std::clamp(bytes / (2.0 * kWorthwhileBytes), 1.0, static_cast<double>(kChunks));
  }

  const Scenario& scenario_;
  TrafficBook& book_;
  LinkCost cost_;
  Reduction how_;
};

std::size_t examples(const Scenario& scenario) {
  return static_cast<std::size_t>(scenario.work.batch) * static_cast<std::size_t>(scenario.workers);
}

bool is_connected(const Scenario& scenario, const std::string& tensor) {
  for (const ModelLayer& layer : scenario.work.connected)
    for (const ModelTensor& own : layer.tensors)
      if (own.name == tensor) return true;
  return false;
}

// Every layer's outputs are gathered forward, and the errors of its inputs summed backward. In a hybrid the
// first layer's inputs are features of each worker's own images: gathered, and their errors scattered.
void add_activations(const Scenario& scenario, Loader& loader, Loads& loads) {
  const std::size_t parts = static_cast<std::size_t>(scenario.workers);
  const Plan& plan = scenario.plan;
  for (std::size_t i = 0; i < scenario.work.connected.size(); ++i) {
    const ModelLayer& layer = scenario.work.connected[i];
    const std::size_t inputs = examples(scenario) * layer.inputs;
    loads.shipments.push_back(
        loader.gather(examples(scenario) * layer.outputs / parts, plan.activations));
    if (i > 0) {
      loads.shipments.push_back(loader.sum(inputs, plan.errors));
    } else if (scenario.parallel == Parallel::hybrid) {
      loads.shipments.push_back(loader.gather(inputs / parts, plan.activations));
      loads.shipments.push_back(loader.scatter(inputs / parts, plan.errors));
    }
  }
}

}  // namespace

Loads loads_of(const Scenario& scenario, const Profile& profile) {
  TrafficBook book;
  return loads_of(scenario, profile, book);
}

Loads loads_of(const Scenario& scenario, const Profile& profile, TrafficBook& book) {
  require(scenario.workers >= 1, Fault::usage, "a prediction needs at least one worker");
  Loads loads;
  if (scenario.workers == 1) return loads;
  Loader loader(scenario, profile, book);
  std::vector<MeasuredTensor> tensors = scenario.work.tensors;
  if (scenario.parallel != Parallel::data) {
    require(!scenario.work.connected.empty(), Fault::usage,
            "this network has no fully connected layers that workers could divide");
    std::erase_if(
        tensors, [&](const MeasuredTensor& tensor) { return is_connected(scenario, tensor.name); });
    require(scenario.parallel != Parallel::model || tensors.empty(), Fault::usage,
            "this network has more than fully connected layers, which model parallelism does not "
            "divide: hybrid does");
    add_activations(scenario, loader, loads);
  }
  std::vector<std::size_t> elements;
  std::size_t all = 0;
  for (const MeasuredTensor& tensor : tensors) {
    elements.push_back(tensor.elements);
    all += tensor.elements;
  }
  std::size_t first = 0;
  for (const auto& buffer : fuse(elements, scenario.plan.fusion_bytes)) {
    loads.shipments.push_back(loader.reduce({&tensors[first], buffer.size()}));
    first += buffer.size();
  }
  loads.control_rounds = std::bit_width(static_cast<unsigned>(scenario.workers - 1));
  for (const Shipment& shipment : loads.shipments)
    loads.bytes += shipment.machine.bytes + shipment.network.bytes;
  if (all != 0) loads.fp32_bytes = loader.fp32_bytes(all);
  return loads;
}

}  // namespace narrowcast
