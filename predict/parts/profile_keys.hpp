#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "plan/values.hpp"
#include "predict/profile.hpp"

// The keys of a profile's tables, each with what fits: reading, writing and the page about profiles
// go by these rows.
namespace narrowcast {

enum class Need { optional, required };

// Both ends fit.
struct Range {
  double least = 0;
  double most = 0;
};

// A number may end in one of these; longer endings stand before those that they end in.
using Units = std::span<const Named<double>>;

// Part is the struct that the key belongs to.
template <class Part>
struct ProfileKey {
  std::string_view name;
  std::string_view unit;  // for messages
  std::variant<double Part::*, int Part::*, bool Part::*, std::string Part::*> member;
  Range range = {};  // of numbers
  Need need = Need::optional;
  Units units = {};
};

// Bits as `--shape` has them, and bytes; powers of 1000.
inline constexpr std::array kRates{Named<double>{"kbit", 1e3 / 8}, Named<double>{"mbit", 1e6 / 8},
                                   Named<double>{"gbit", 1e9 / 8}, Named<double>{"kB", 1e3},
                                   Named<double>{"MB", 1e6},       Named<double>{"GB", 1e9},
                                   Named<double>{"TB", 1e12}};
inline constexpr std::array kOperations{Named<double>{"G", 1e9}, Named<double>{"T", 1e12},
                                        Named<double>{"P", 1e15}};

inline constexpr Range kSpreads{0, kMostSpread};
inline constexpr Range kMicroseconds{0, 1e7};
inline constexpr Range kMilliseconds{0, 1e9};
inline constexpr Range kNanoseconds{0, 1e6};
inline constexpr Range kCounts{1, 1'000'000};
inline constexpr Range kElements{1, 1e13};

inline constexpr std::array kProfileKeys{
    ProfileKey<Profile>{"name", "a name", &Profile::name, {}, Need::required},
    ProfileKey<Profile>{"source", "text", &Profile::source},
    ProfileKey<Profile>{"machine_workers", "a whole number of workers", &Profile::machine_workers,
                        kCounts},
    ProfileKey<Profile>{"cores", "a number of cores", &Profile::cores, {0.001, 1024}},
    ProfileKey<Profile>{"price", "US dollars an hour", &Profile::price, {0, 1e6}}};

inline constexpr std::array kLinkKeys{
    ProfileKey<LinkProfile>{"latency_us", "microseconds", &LinkProfile::latency_us, kMicroseconds,
                            Need::required},
    ProfileKey<LinkProfile>{"bandwidth",
                            "bytes a second, or a rate as in \"10gbit\" or \"12.5GB\",",
                            &LinkProfile::bandwidth,
                            {1, 1e14},
                            Need::required,
                            kRates},
    ProfileKey<LinkProfile>{"duplex", "true or false", &LinkProfile::duplex},
    ProfileKey<LinkProfile>{"sharing", "a whole number of workers", &LinkProfile::sharing, kCounts},
    ProfileKey<LinkProfile>{"cpu_ns_per_byte", "nanoseconds", &LinkProfile::cpu_ns_per_byte,
                            kNanoseconds},
    ProfileKey<LinkProfile>{"cpu_us_per_message", "microseconds", &LinkProfile::cpu_us_per_message,
                            kMicroseconds},
    ProfileKey<LinkProfile>{"spread", "a part of the median", &LinkProfile::spread, kSpreads}};

inline constexpr std::array kCodecKeys{
    ProfileKey<CodecSpeed>{"codec", "a spec or \"*\"", &CodecSpeed::codec, {}, Need::required},
    ProfileKey<CodecSpeed>{"encode_ns", "nanoseconds", &CodecSpeed::encode_ns, kNanoseconds,
                           Need::required},
    ProfileKey<CodecSpeed>{"decode_ns", "nanoseconds", &CodecSpeed::decode_ns, kNanoseconds,
                           Need::required},
    ProfileKey<CodecSpeed>{"add_ns", "nanoseconds", &CodecSpeed::add_ns, kNanoseconds,
                           Need::required},
    ProfileKey<CodecSpeed>{"feedback_ns", "nanoseconds", &CodecSpeed::feedback_ns, kNanoseconds},
    ProfileKey<CodecSpeed>{"spread", "a part of the median", &CodecSpeed::spread, kSpreads}};

inline constexpr std::array kComputeKeys{
    ProfileKey<ComputeProfile>{"flops",
                               "operations a second, or a number as in \"15.7T\",",
                               &ComputeProfile::flops,
                               {1, 1e18},
                               Need::required,
                               kOperations},
    ProfileKey<ComputeProfile>{"overhead_us", "microseconds", &ComputeProfile::overhead_us,
                               kMicroseconds},
    ProfileKey<ComputeProfile>{"straggler", "a part of the mean", &ComputeProfile::straggler,
                               kSpreads},
    ProfileKey<ComputeProfile>{"spread", "a part of the median", &ComputeProfile::spread,
                               kSpreads}};

inline constexpr std::array kModelKeys{
    ProfileKey<MeasuredModel>{"name", "a name", &MeasuredModel::name, {}, Need::required},
    ProfileKey<MeasuredModel>{
        "batch", "a whole number of examples", &MeasuredModel::batch, {1, 1e9}, Need::required},
    ProfileKey<MeasuredModel>{"forward_ms", "milliseconds", &MeasuredModel::forward_ms,
                              kMilliseconds, Need::required},
    ProfileKey<MeasuredModel>{"backward_ms", "milliseconds", &MeasuredModel::backward_ms,
                              kMilliseconds, Need::required},
    ProfileKey<MeasuredModel>{"rest_ms", "milliseconds", &MeasuredModel::rest_ms, kMilliseconds},
    ProfileKey<MeasuredModel>{"straggler", "a part of the mean", &MeasuredModel::straggler,
                              kSpreads},
    ProfileKey<MeasuredModel>{"spread", "a part of the median", &MeasuredModel::spread, kSpreads}};

// The canonical spec; Fault::usage for a codec that does not exist.
std::string canonical_codec(std::string_view spec);

}  // namespace narrowcast
