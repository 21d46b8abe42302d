#include "python/src/net.hpp"

#include <fmt/core.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "python/src/parts.hpp"
#include "transport/agree.hpp"
#include "transport/environment.hpp"
#include "transport/sealed.hpp"
#include "transport/shm.hpp"

namespace narrowcast::python {

namespace nb = nanobind;

Transport& Net::transport() const {
  require(transport_ != nullptr, Fault::usage, "the connection between the ranks is closed");
  return *transport_;
}

Carried& Net::carrier() const {
  require(carrier_ != nullptr, Fault::usage, "nobody carries the frames of this transport");
  return *carrier_;
}

void Net::meet(const std::string& plan, const std::string& seed, const std::string& key_file) {
  if (!key_file.empty()) {
    const Sealing sealing{.key = read_job_key(key_file)};
    transport_ = seal(std::move(transport_), sealing);
  }
  const std::array<Term, 2> terms{{{.name = "seed", .text = seed}, {.name = "plan", .text = plan}}};
  agree(transport(), terms);
}

void Net::leave() {
  if (carrier_ != nullptr) carrier_->leave();
}

void Net::close() {
  carrier_ = nullptr;
  transport_.reset();
}

namespace {

using FrameIn = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using FrameOut = nb::ndarray<nb::pytorch, std::uint8_t, nb::ndim<1>>;
using Milliseconds = std::chrono::duration<double, std::milli>;

std::chrono::milliseconds patience(double seconds) {
  require(seconds > 0, Fault::usage, "a deadline is more than 0 seconds");
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::duration<double>(seconds));
}

std::unique_ptr<Net> carried_net(int rank, int size, double timeout) {
  auto carried = std::make_unique<Carried>(
      Carried::Options{.place = {.rank = rank, .size = size}, .timeout = patience(timeout)});
  Carried* const carrier = carried.get();
  return std::make_unique<Net>(std::move(carried), carrier);
}

std::unique_ptr<Net> shm_net(int descriptor, int rank, int size, double timeout) {
  const nb::gil_scoped_release free;
  const Joining joining{.place = {rank, size, rank, size},
                        .rendezvous = fmt::format("fd:{}", descriptor),
                        .timeout = patience(timeout)};
  return std::make_unique<Net>(join_shm(joining), nullptr);
}

nb::object next_frame(Net& net, int peer) {
  std::optional<Load> load;
  {
    const nb::gil_scoped_release free;
    load = net.carrier().next(peer);
  }
  if (!load) return nb::none();
  // It owns nothing: the memory is the transport's until carried().
  const FrameOut frame(reinterpret_cast<std::uint8_t*>(load->frame.data()), {load->frame.size()},
                       nb::capsule(&net, [](void*) noexcept {}));
  return nb::make_tuple(load->number, frame);
}

bool deliver(Net& net, int peer, const FrameIn& frame) {
  const nb::gil_scoped_release free;
  return net.carrier().deliver(peer, std::as_bytes(std::span(frame.data(), frame.size())));
}

void lost(Net& net, int peer, const std::string& why) {
  const nb::gil_scoped_release free;
  net.carrier().lost(peer, why);
}

using Free = nb::call_guard<nb::gil_scoped_release>;

}  // namespace

void add_net(nb::module_& module) {
  using nb::arg;
  nb::class_<ShmSegment>(module, "ShmSegment", "Memory that the ranks of a machine share.")
      .def(nb::init<int>(), arg("ranks"))
      .def_prop_ro("fd", &ShmSegment::fd);
  nb::class_<Net>(module, "Net", "One rank's connection to all others.")
      .def_prop_ro("rank", [](const Net& net) { return net.transport().rank(); })
      .def_prop_ro("size", [](const Net& net) { return net.transport().size(); })
      .def("meet", &Net::meet, Free(), arg("plan"), arg("seed"), arg("key_file"))
      .def("leave", &Net::leave, Free())
      .def("close", &Net::close, Free())
      .def_prop_ro("longest_frame", [](const Net& net) { return net.carrier().longest_frame(); })
      .def_prop_ro("frames_ahead", [](const Net& /*net*/) { return Carried::frames_ahead(); })
      .def("next", next_frame, arg("peer"))
      .def(
          "carried",
          [](Net& net, int peer, std::size_t number) {
            net.carrier().carried(peer, {.number = number, .frame = {}});
          },
          arg("peer"), arg("number"))
      .def("deliver", deliver, arg("peer"), arg("frame").noconvert())
      .def("lost", lost, arg("peer"), arg("why"));
  module.def("carried_net", carried_net, arg("rank"), arg("size"), arg("timeout"));
  module.def("shm_net", shm_net, arg("descriptor"), arg("rank"), arg("size"), arg("timeout"));
}

}  // namespace narrowcast::python
