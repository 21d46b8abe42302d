#include <algorithm>
#include <map>

#include "predict/expected.hpp"
#include "predict/timeline/timeline.hpp"

namespace narrowcast {
namespace {

double bytes_ms(const Shipment::Way& way, const LinkProfile& link, int senders) {
  if (way.bytes == 0) return 0;
  const int users = std::min(link.sharing, senders);
  const double directions = link.duplex ? 1 : 2;
  return 1e3 * way.bytes * users * directions / link.bandwidth;
}

double latency_ms(const Shipment::Way& way, const LinkProfile& link) {
  return way.rounds * link.latency_us / 1e3;
}

double cpu_ms(const Shipment::Way& way, const LinkProfile& link) {
  return 2 *
         (way.bytes * link.cpu_ns_per_byte / 1e6 + way.messages * link.cpu_us_per_message / 1e3);
}

// Looking a codec up may mean to build it: once is enough.
class Speeds {
 public:
  explicit Speeds(const Profile& profile) : profile_(profile) {}
  const CodecSpeed& operator[](const std::string& codec) {
    const CodecSpeed*& speed = known_[codec];
    if (speed == nullptr) speed = &speed_of(profile_, codec);
    return *speed;
  }

 private:
  const Profile& profile_;
  std::map<std::string, const CodecSpeed*> known_;
};

Priced priced(const Shipment& shipment, const Scenario& scenario, const Profile& profile,
              Speeds& speeds) {
  const double slower = 1 / std::min(1.0, profile.cores);  // a core that workers share
  const int together = std::min(std::max(1, scenario.machine_workers), scenario.workers);
  Priced result{.ready = shipment.ready_ms,
                .near_bytes = bytes_ms(shipment.machine, profile.machine, together),
                .far_bytes = bytes_ms(shipment.network, profile.network,
                                      shipment.alone_on_link ? 1 : together),
                .near_latency = latency_ms(shipment.machine, profile.machine),
                .far_latency = latency_ms(shipment.network, profile.network),
                .chunks = shipment.chunks,
                .waits = shipment.waits,
                .in_turn = shipment.machine.rounds > 0 && shipment.network.rounds > 0};
  for (const Cargo& cargo : shipment.cargo) {
    const CodecSpeed& speed = speeds[cargo.codec];
    const double encode_ns = speed.encode_ns + (cargo.feedback ? speed.feedback_ns : 0);
    result.encode += cargo.encoded * encode_ns * slower / 1e6;
    result.decode += (cargo.decoded * speed.decode_ns + cargo.added * speed.add_ns) * slower / 1e6;
  }
  // Where the transport has a core of its own, its work is in the bandwidth.
  if (profile.cores < 2)
    result.transport_cpu = slower * (cpu_ms(shipment.machine, profile.machine) +
                                     cpu_ms(shipment.network, profile.network));
  return result;
}

}  // namespace

Pricing price(const Scenario& scenario, const Loads& loads, const Profile& profile) {
  const Workload& work = scenario.work;
  Speeds speeds(profile);
  Pricing pricing{
      .forward = work.forward_ms,
      .backward = work.backward_ms,
      .rest = work.rest_ms,
      .straggling = work.straggler * work.compute_ms() * expected_maximum(scenario.workers),
      .connected = work.connected_share * (work.forward_ms + work.backward_ms),
      .sub_batches = scenario.sub_batches,
      .cores = profile.cores};
  const LinkProfile& link =
      scenario.workers > scenario.machine_workers ? profile.network : profile.machine;
  pricing.control = loads.control_rounds * link.latency_us / 1e3;
  for (const Shipment& shipment : loads.shipments)
    pricing.shipments.push_back(priced(shipment, scenario, profile, speeds));
  return pricing;
}

}  // namespace narrowcast
