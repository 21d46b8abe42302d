// The mpi transport: built once for each MPI that is installed, loaded by transport/mpi.cpp.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "transport/join.hpp"
#include "transport/module.hpp"
#include "transport/modules/mpi_link.hpp"

namespace narrowcast {
namespace mpi {
namespace {

class Sending final : public Transfer {
 public:
  Sending(std::shared_ptr<Link> link, const Slot& to, Bytes message, const Stamp& stamp)
      : link_(std::move(link)), out_{.to = to}, arrival_{message.size(), stamp} {
    link_->send(out_, message, stamp);
  }
  ~Sending() override { link_->give_up(out_); }
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;

  Arrival wait() override {
    link_->await(out_);
    return arrival_;
  }

 private:
  std::shared_ptr<Link> link_;
  Outgoing out_;
  Arrival arrival_;
};

class Receiving final : public Transfer {
 public:
  Receiving(std::shared_ptr<Link> link, const Slot& from, MutableBytes buffer)
      : link_(std::move(link)), in_{.from = from, .buffer = buffer} {
    link_->want(in_);
  }
  ~Receiving() override { link_->give_up(in_); }
  Receiving(const Receiving&) = delete;
  Receiving& operator=(const Receiving&) = delete;

  Arrival wait() override {
    link_->await(in_);
    return in_.arrival;
  }

 private:
  std::shared_ptr<Link> link_;
  Incoming in_;
};

// Keeps a link beating while its owner computes. Those who wait for messages beat on the way, so a
// turn that is taken is no reason to queue for it.
void keep_beating(std::stop_token stop, Link& link) {
  constexpr auto kSoon = std::chrono::milliseconds(1);
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    std::chrono::milliseconds rest = kSoon;
    if (const Turn turn = link.session().try_turn(); turn.owns_lock()) {
      link.progress();
      rest = link.interval();
    }
    never.wait_for(lock, stop, rest, [] { return false; });
  }
}

class Mpi final : public Transport {
 public:
  explicit Mpi(std::shared_ptr<Link> link)
      : link_(std::move(link)),
        heart_([this](std::stop_token stop) { keep_beating(std::move(stop), *link_); }) {}

  ~Mpi() override {
    heart_.request_stop();
    heart_.join();
    link_->leave();
  }
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;

  int rank() const override { return link_->rank(); }
  int size() const override { return link_->size(); }

  void poke() override {
    if (const Turn turn = link_->session().try_turn(); turn.owns_lock()) link_->progress();
  }

  void engine_all_reduce(MutableFloats values) override { link_->all_reduce(values); }

 private:
  std::unique_ptr<Transfer> do_send(const Slot& to, Bytes message, const Stamp& stamp) override {
    return std::make_unique<Sending>(link_, to, message, stamp);
  }

  std::unique_ptr<Transfer> do_receive(const Slot& from, MutableBytes buffer) override {
    return std::make_unique<Receiving>(link_, from, buffer);
  }

  std::shared_ptr<Link> link_;
  std::jthread heart_;
};

Transport* join(const Joining& joining) {
  Session& session = Session::of_process();
  MPI_Comm comm = session.duplicate(joining.timeout);
  const Turn turn = session.turn();
  return new Mpi(std::make_shared<Link>(session, comm, joining.timeout));
}

}  // namespace
}  // namespace mpi

extern "C" Transport* narrowcast_join(const Joining& joining, const char* version) {
  check_module_version("mpi", version);
  return mpi::join(joining);
}

}  // namespace narrowcast
