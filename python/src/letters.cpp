#include <fmt/core.h>
#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

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

std::string terms_of(const Piece& piece) {
  return fmt::format("{} values as {}", piece.values.size(), piece.codec->spec());
}

// What cannot be encoded is refused before it is announced: the peer would wait for it.
void check(const Piece& piece) {
  if (piece.codec->promise().non_finite == NonFinite::refuses_nan &&
      std::ranges::any_of(piece.values, [](float value) { return std::isnan(value); }))
    throw Error(Fault::usage,
                fmt::format("{} has no NaN, and a value is one", piece.codec->spec()));
}

// Tensors from one rank to another. To each peer and from each peer one after the other; otherwise
// threads do not wait for each other.
class Letters {
 public:
  Letters(const Net& net, std::uint32_t number) : net_(net) {
    for (int peer = 0; peer < net.transport().size(); ++peer) {
      to_.push_back(std::make_unique<Direction>(net.transport(), number));
      from_.push_back(std::make_unique<Direction>(net.transport(), number));
    }
  }

  void send(MutableFloats values, const Way& way, int peer) {
    Direction& direction = at(to_, peer);
    const std::lock_guard lock(direction.mutex);
    const Piece piece{.values = values, .codec = way.codec.get()};
    check(piece);
    const Travel travel{.seed = way.seed, .step = step_++};
    announce(peer, terms_of(piece), send_traffic({&piece, 1}, travel), direction.group);
    send_receive({.out = {&piece, 1}, .to = peer}, travel, direction.group);
  }

  void receive(MutableFloats values, const Way& way, int peer) {
    Direction& direction = at(from_, peer);
    const std::lock_guard lock(direction.mutex);
    const Piece piece{.values = values, .codec = way.codec.get()};
    expect(peer, terms_of(piece), direction.group);
    send_receive({.in = {&piece, 1}, .from = peer}, {}, direction.group);
  }

 private:
  // Its conversation counts messages and has memory of its own.
  struct Direction {
    Direction(Transport& net, std::uint32_t number) : group(net, number) {}
    std::mutex mutex;
    Conversation group;
  };
  using Directions = std::vector<std::unique_ptr<Direction>>;

  Direction& at(const Directions& directions, int peer) const {
    net_.transport();  // Python may close it and keep this
    require(peer >= 0 && static_cast<std::size_t>(peer) < directions.size(), Fault::usage,
            "who is to be sent to or received from is not among the ranks");
    return *directions[static_cast<std::size_t>(peer)];
  }

  const Net& net_;
  Directions to_;
  Directions from_;
  std::atomic<std::uint64_t> step_ = 0;  // so that each call throws its own dice
};

}  // namespace

void add_letters(nb::module_& module) {
  using nb::arg;
  nb::class_<Letters>(module, "Letters", "Encoded tensors from one rank to another.")
      .def(nb::init<const Net&, std::uint32_t>(), arg("net"), arg("number"), nb::keep_alive<1, 2>())
      .def(
          "send",
          [](Letters& letters, const FloatsOut& values, const Way& way, int peer) {
            const nb::gil_scoped_release free;
            letters.send(span_of(values), way, peer);
          },
          arg("values").noconvert(), arg("way"), arg("peer"))
      .def(
          "receive",
          [](Letters& letters, const FloatsOut& values, const Way& way, int peer) {
            const nb::gil_scoped_release free;
            letters.receive(span_of(values), way, peer);
          },
          arg("values").noconvert(), arg("way"), arg("peer"));
}

}  // namespace narrowcast::python
