#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "codec/codec.hpp"
#include "plan/toml.hpp"
#include "plan/values.hpp"
#include "predict/parts/profile_keys.hpp"
#include "predict/profile.hpp"

namespace narrowcast {
namespace {

constexpr std::string_view kD16Cluster =
#include "predict/profiles/d16-cluster.inc"
    ;
constexpr std::string_view kEc2K80 =
#include "predict/profiles/ec2-k80.inc"
    ;
constexpr std::string_view kDgx1P100 =
#include "predict/profiles/dgx1-p100.inc"
    ;
constexpr std::string_view kEthernet1g =
#include "predict/profiles/ethernet-1g.inc"
    ;
constexpr std::string_view kEthernet10g =
#include "predict/profiles/ethernet-10g.inc"
    ;
constexpr std::string_view kEthernet25g =
#include "predict/profiles/ethernet-25g.inc"
    ;
constexpr std::string_view kEthernet100g =
#include "predict/profiles/ethernet-100g.inc"
    ;
constexpr std::string_view kInfinibandFdr =
#include "predict/profiles/infiniband-fdr.inc"
    ;
constexpr std::string_view kInfinibandHdr =
#include "predict/profiles/infiniband-hdr.inc"
    ;
constexpr std::string_view kA100Node =
#include "predict/profiles/a100-node.inc"
    ;
constexpr std::string_view kH100Node =
#include "predict/profiles/h100-node.inc"
    ;

constexpr std::array kRows{
    ProfileRow{"d16-cluster", "D16's cluster: 3 GTX Titan a node on PCIe, InfiniBand between nodes",
               kD16Cluster},
    ProfileRow{"ec2-k80", "EC2 p2.16xlarge: 16 GPUs on 8 K80 boards, MPI through the host",
               kEc2K80},
    ProfileRow{"dgx1-p100", "DGX-1: 8 P100 on NVLink, 4 ports of InfiniBand EDR", kDgx1P100},
    ProfileRow{"ethernet-1g", "One V100 a machine, TCP on 1 Gbit/s Ethernet", kEthernet1g},
    ProfileRow{"ethernet-10g", "One V100 a machine, TCP on 10 Gbit/s Ethernet", kEthernet10g},
    ProfileRow{"ethernet-25g", "One V100 a machine, TCP on 25 Gbit/s Ethernet", kEthernet25g},
    ProfileRow{"ethernet-100g", "One V100 a machine, TCP on 100 Gbit/s Ethernet", kEthernet100g},
    ProfileRow{"infiniband-fdr", "One V100 a machine, InfiniBand FDR", kInfinibandFdr},
    ProfileRow{"infiniband-hdr", "One A100 a machine, InfiniBand HDR", kInfinibandHdr},
    ProfileRow{"a100-node", "DGX A100: 8 A100 on NVSwitch, InfiniBand HDR for each", kA100Node},
    ProfileRow{"h100-node", "DGX H100: 8 H100 on NVSwitch, InfiniBand NDR for each", kH100Node},
};

std::vector<std::string_view> names() {
  std::vector<std::string_view> all;
  for (const ProfileRow& row : kRows) all.push_back(row.name);
  return all;
}

std::string_view family(std::string_view spec) { return spec.substr(0, spec.find(':')); }

bool is_known(std::string_view name) {
  return std::ranges::find(codecs(), name, &CodecRow::name) != codecs().end();
}

}  // namespace

std::span<const ProfileRow> profiles() { return kRows; }

Profile find_profile(const std::string& name_or_file) {
  const auto row = std::ranges::find(kRows, name_or_file, &ProfileRow::name);
  if (row != kRows.end()) return parse_profile(row->toml, fmt::format("profile {}", row->name));
  std::error_code ignored;  // read_text() says what is wrong with a file that is there
  if (std::filesystem::status(name_or_file, ignored).type() ==
      std::filesystem::file_type::not_found)
    throw unfit(fmt::format("profile '{}'", name_or_file),
                fmt::format("is no file and does not come along; those that do are {}",
                            fmt::join(names(), ", ")));
  return parse_profile(read_text(name_or_file), name_or_file);
}

std::optional<double> price_of_worker(const Profile& profile) {
  if (profile.price == 0) return std::nullopt;
  return profile.price / profile.machine_workers;
}

const CodecSpeed& speed_of(const Profile& profile, std::string_view codec) {
  const auto& speeds = profile.codecs;
  if (const auto exact = std::ranges::find(speeds, codec, &CodecSpeed::codec);
      exact != speeds.end() && codec != "*")
    return *exact;
  // A canonical spec means to build the codec, which is for those that may be there only.
  for (const CodecSpeed& speed : speeds)
    if (family(speed.codec) == family(codec) &&
        canonical_codec(speed.codec) == canonical_codec(codec))
      return speed;
  const auto any = std::ranges::find(speeds, "*", &CodecSpeed::codec);
  if (any != speeds.end() && is_known(family(codec))) return *any;
  throw unfit(fmt::format("profile '{}'", profile.name),
              fmt::format("has no speed of codec '{}' and none for \"*\"; narrowcast calibrate -o "
                          "profile.toml measures the codecs of this machine",
                          codec));
}

}  // namespace narrowcast
