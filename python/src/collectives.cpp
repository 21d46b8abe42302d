#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "collective/collective.hpp"
#include "python/src/arrays.hpp"
#include "python/src/net.hpp"
#include "python/src/parts.hpp"

namespace narrowcast::python {
namespace {

namespace nb = nanobind;

// How one tensor travels.
struct Way {
  std::string spec;
  std::optional<std::size_t> innermost;
  std::uint64_t seed = 0;
};

// Collectives of one conversation, in turn.
class Talk {
 public:
  Talk(const Net& net, std::uint32_t number) : net_(net), group_(net.transport(), number) {}

  void all_reduce(MutableFloats values, const Way& way, const std::string& algorithm,
                  Result result) {
    const Turn turn(*this);
    const Piece piece{.values = values, .codec = &codec(way)};
    narrowcast::all_reduce(all_reduce_row(algorithm), {&piece, 1},
                           {.travel = next_travel(way), .result = result}, group_);
  }

  void all_gather(const std::vector<MutableFloats>& parts, const Way& way) {
    const Turn turn(*this);
    require(parts.size() == static_cast<std::size_t>(group_.size()), Fault::usage,
            "every rank needs a part to gather");
    std::vector<Piece> pieces;
    for (const MutableFloats part : parts)
      pieces.push_back({.tensor = pieces.size(), .values = part, .codec = &codec(way)});
    narrowcast::all_gather(pieces, next_travel(way), group_);
  }

  void send(MutableFloats values, const Way& way, int peer) {
    const Turn turn(*this);
    const Piece piece{.values = values, .codec = &codec(way)};
    send_receive({.out = {&piece, 1}, .to = peer}, next_travel(way), group_);
  }

  void receive(MutableFloats values, const Way& way, int peer) {
    const Turn turn(*this);
    const Piece piece{.values = values, .codec = &codec(way)};
    send_receive({.in = {&piece, 1}, .from = peer}, next_travel(way), group_);
  }

 private:
  const Codec& codec(const Way& way) {
    auto& found = codecs_[{way.spec, way.innermost}];
    if (!found) found = make_codec(way.spec, {.innermost = way.innermost});
    return *found;
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
  std::map<std::pair<std::string, std::optional<std::size_t>>, std::unique_ptr<Codec>> codecs_;
};

}  // namespace

void add_collectives(nb::module_& module) {
  using nb::arg;
  using Free = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<Way>(module, "Way", "How one tensor travels.")
      .def(
          "__init__",
          [](Way* way, const std::string& spec, std::optional<std::size_t> innermost,
             std::uint64_t seed) {
            make_codec(spec, {.innermost = innermost});  // refuses what is none
            new (way) Way{spec, innermost, seed};
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
          arg("parts").noconvert(), arg("way"))
      .def(
          "send",
          [](Talk& talk, const FloatsOut& values, const Way& way, int peer) {
            const nb::gil_scoped_release free;
            talk.send(span_of(values), way, peer);
          },
          arg("values").noconvert(), arg("way"), arg("peer"))
      .def(
          "receive",
          [](Talk& talk, const FloatsOut& values, const Way& way, int peer) {
            const nb::gil_scoped_release free;
            talk.receive(span_of(values), way, peer);
          },
          arg("values").noconvert(), arg("way"), arg("peer"));
}

}  // namespace narrowcast::python
