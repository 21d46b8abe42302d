#include <fmt/core.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "collective/collective.hpp"
#include "python/src/arrays.hpp"
#include "python/src/net.hpp"
#include "python/src/parts.hpp"
#include "python/src/terms.hpp"
#include "python/src/way.hpp"

namespace narrowcast::python {
namespace {

namespace nb = nanobind;

bool refuses(const Codec& codec, MutableFloats values) {
  return codec.promise().non_finite == NonFinite::refuses_nan &&
         std::ranges::any_of(values, [](float x) { return std::isnan(x); });
}

// Collectives of one conversation, in turn.
class Talk {
 public:
  Talk(const Net& net, std::uint32_t number) : net_(net), group_(net.transport(), number) {}

  void all_reduce(MutableFloats values, const Way& way, const std::string& algorithm,
                  Result result) {
    const Turn turn(*this);
    const AllReduceRow& row = all_reduce_row(algorithm);
    agree(fmt::format("all_reduce of {} values as {}, {}, {}", values.size(), way.codec->spec(),
                      row.name, result == Result::sum ? "sum" : "average"),
          values, way);
    const Piece piece{.values = values, .codec = way.codec.get()};
    narrowcast::all_reduce(row, {&piece, 1}, {.travel = next_travel(way), .result = result},
                           group_);
  }

  void all_gather(const std::vector<MutableFloats>& parts, const Way& way) {
    const Turn turn(*this);
    require(parts.size() == static_cast<std::size_t>(group_.size()), Fault::usage,
            "every rank needs a part to gather");
    agree(fmt::format("all_gather of {} values as {}", parts[0].size(), way.codec->spec()),
          parts[static_cast<std::size_t>(group_.rank())], way);
    std::vector<Piece> pieces;
    for (const MutableFloats part : parts)
      pieces.push_back({.tensor = pieces.size(), .values = part, .codec = way.codec.get()});
    narrowcast::all_gather(pieces, next_travel(way), group_);
  }

 private:
  // On a call, with this rank's own values. A codec that refuses NaN would stop a rank that has one in the middle
  // of it, and the others would wait: so NaN is a term, and where all ranks have it they all stop here.
  void agree(const std::string& call, MutableFloats own, const Way& way) {
    const bool refused = refuses(*way.codec, own);
    agree_on(
        fmt::format("{}, seed {}{}", call, way.seed, refused ? ", with NaN, which it refuses" : ""),
        group_);
    if (refused)
      throw Error(Fault::usage,
                  fmt::format("{} has no NaN, and a value is one", way.codec->spec()));
  }

  Travel next_travel(const Way& way) { return {.seed = way.seed, .step = step_++}; }

  // One at a time, and only while there is a connection: Python may close it and keep this.
  struct Turn {
    explicit Turn(Talk& talk) : lock(talk.mutex_) { talk.net_.transport(); }
    std::lock_guard<std::mutex> lock;
  };

  const Net& net_;
  std::mutex mutex_;
  Conversation group_;
  std::uint64_t step_ = 0;  // so that each call throws its own dice
};

}  // namespace

void add_collectives(nb::module_& module) {
  using nb::arg;
  nb::class_<Way>(module, "Way", "How one tensor travels.")
      .def(
          "__init__",
          [](Way* way, const std::string& spec, std::optional<std::size_t> innermost,
             std::uint64_t seed) {
            new (way) Way{make_codec(spec, {.innermost = innermost}), seed};
          },
          arg("spec"), arg("innermost").none(), arg("seed"));
  nb::class_<Talk>(module, "Talk", "Collectives of encoded tensors, one after the other.")
      .def(nb::init<const Net&, std::uint32_t>(), arg("net"), arg("number"), nb::keep_alive<1, 2>())
      .def(
          "all_reduce",
          [](Talk& talk, const FloatsOut& values, const Way& way, const std::string& algorithm,
             const std::string& result) {
            require(result == "sum" || result == "average", Fault::usage,
                    "an all-reduce gives a sum or an average");
            const nb::gil_scoped_release free;
            talk.all_reduce(span_of(values), way, algorithm,
                            result == "sum" ? Result::sum : Result::average);
          },
          arg("values").noconvert(), arg("way"), arg("algorithm"), arg("result"))
      .def(
          "all_gather",
          [](Talk& talk, const std::vector<FloatsOut>& parts, const Way& way) {
            std::vector<MutableFloats> spans;
            for (const FloatsOut& part : parts) spans.push_back(span_of(part));
            const nb::gil_scoped_release free;
            talk.all_gather(spans, way);
          },
          arg("parts").noconvert(), arg("way"));
}

}  // namespace narrowcast::python
