#include "transport/modules/gloo_transport.hpp"

#include <fmt/format.h>
#include <gloo/allreduce.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "transport/copied.hpp"
#include "transport/modules/gloo_link.hpp"
#include "transport/modules/gloo_shared.hpp"

namespace narrowcast::over_gloo {
namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 20ms;            // how often connections are looked at
constexpr auto kMoment = 100ms;         // for a rank's reason to come after its end
constexpr auto kLongestFarewell = 10s;  // for peers to take what is on its way to them
constexpr auto kShortFarewell = 500ms;  // the same after a fault

struct Hello {
  std::array<std::byte, 16> token;
  std::uint32_t rank;
  std::uint32_t size;
  std::uint64_t frame_bytes;
};

// Half the time of the all-reduce is this: compiled with -O3, for the sake of vectors.
void add(void* out, const void* a, const void* b, std::size_t count) {
  auto* sum = static_cast<float*>(out);
  const auto* left = static_cast<const float*>(a);
  const auto* right = static_cast<const float*>(b);
  for (std::size_t i = 0; i < count; ++i) sum[i] = left[i] + right[i];
}

class GlooTransport final : public Transport {
 public:
  GlooTransport(const Joining& joining, const Mesh& mesh)
      : rank_(joining.place.rank), size_(joining.place.size) {
    shared_.context = mesh.context;
    if (size_ > 1) poster_ = std::make_unique<Poster>(*shared_.context);  // else no context either
    shared_.poster = poster_.get();
    shared_.timeout = joining.timeout;
    shared_.frame_bytes = framing::frame_bytes(size_);
    shared_.frames = framing::kFrames;
    shared_.wake_all = [this] { wake_all(); };
    links_.resize(size_);
    for (int peer = 0; peer < size_; ++peer)
      if (peer != rank_) links_[peer] = std::make_unique<Link>(shared_, peer);
  }

  ~GlooTransport() override {
    if (monitor_.joinable()) {
      part();
      {
        const std::lock_guard lock(shared_.mutex);
        stopping_ = true;
        tick_.notify_all();
      }
      monitor_.join();
    }
    if (poster_) poster_->stop();
    each([](Link& link) { link.stop(); });
  }
  GlooTransport(const GlooTransport&) = delete;
  GlooTransport& operator=(const GlooTransport&) = delete;

  // Says hello to all and waits until they have. When one is missing the others are told, here and
  // by the destructor, so that each of them knows whom to blame.
  void meet(const Mesh& mesh, Clock::time_point deadline) {
    open_links(mesh);
    monitor_ = std::thread([this] { monitor(); });
    if (!await_hellos(deadline)) {
      const std::string missing = who_is_missing(mesh, deadline);
      if (!missing.empty()) shared_.fail(Error(Fault::peer, missing));
    }
    shared_.latch.check();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  // Gloo waits in its own way inside: a peer that dies in the middle may be noticed after the
  // timeout only.
  void engine_all_reduce(MutableFloats values) override {
    if (size_ == 1 || values.empty()) return;
    const std::lock_guard lock(engine_);
    shared_.latch.check();
    gloo::AllreduceOptions options(shared_.context);
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    options.setOutput(values.data(), values.size());
    options.setReduceFunction(add);
    options.setTimeout(shared_.timeout);
    try {
      gloo::allreduce(options);
    } catch (const std::exception& error) {
      each([](Link& link) { link.look(); });
      shared_.fail(Error(Fault::peer, fmt::format("Gloo's all-reduce failed: {}", error.what())));
      shared_.latch.check();
    }
  }

 private:
  std::unique_ptr<Transfer> do_send(const Slot& to, Bytes message, const Stamp& stamp) override {
    shared_.latch.check();
    links_[to.peer]->send(to, message, stamp);
    return std::make_unique<Copied>(shared_.latch, Arrival{message.size(), stamp});
  }

  std::unique_ptr<Transfer> do_receive(const Slot& from, MutableBytes buffer) override {
    shared_.latch.check();
    return std::make_unique<framing::Receiving>(links_[from.peer]->inbox(), from, buffer);
  }

  template <class Call>
  void each(Call call) {
    for (const auto& link : links_)
      if (link) call(*link);
  }

  void wake_all() {
    each([](Link& link) { link.wake(); });
    const std::lock_guard lock(shared_.mutex);
    shared_.progress.notify_all();
    tick_.notify_all();
  }

  void open_links(const Mesh& mesh) {
    const auto hello_of = [&](int rank) {
      const Hello hello = {mesh.token, static_cast<std::uint32_t>(rank),
                           static_cast<std::uint32_t>(size_), shared_.frame_bytes};
      const Bytes bytes = std::as_bytes(std::span(&hello, 1));
      return std::vector<std::byte>(bytes.begin(), bytes.end());
    };
    for (int peer = 0; peer < size_; ++peer) {
      if (peer == rank_) continue;
      if (mesh.unreached.contains(peer))
        links_[peer]->stay_closed();
      else
        links_[peer]->open(hello_of(rank_));
    }
    // After all are open: a fault that one of them finds must not come before any hello.
    for (int peer = 0; peer < size_; ++peer)
      if (peer != rank_) links_[peer]->start(hello_of(peer));
  }

  // Returns whether all have come. If not, somebody is gone, there is a fault, or it is late.
  bool await_hellos(Clock::time_point deadline) {
    const auto all_met = [this] {
      return std::ranges::all_of(links_, [](const auto& link) { return !link || link->met(); });
    };
    const auto one_missed = [this] {
      return std::ranges::any_of(links_, [](const auto& link) { return link && link->missed(); });
    };
    const auto failed = [this] { return shared_.latch.failed(); };
    std::unique_lock lock(shared_.mutex);
    shared_.progress.wait_until(lock, deadline,
                                [&] { return failed() || all_met() || one_missed(); });
    if (all_met()) return true;
    // Whoever is gone may have left because of another, of whom we hear in a moment.
    shared_.progress.wait_for(lock, kMoment, failed);
    return false;
  }

  std::string who_is_missing(const Mesh& mesh, Clock::time_point deadline) const {
    std::vector<std::string> all;
    for (int peer = 0; peer < size_; ++peer) {
      if (peer == rank_ || links_[peer]->met()) continue;
      if (const auto found = mesh.unreached.find(peer); found != mesh.unreached.end())
        all.push_back(fmt::format("rank {} cannot be reached: {}", peer, found->second));
      else if (links_[peer]->missed())
        all.push_back(fmt::format("rank {} went away before it said hello", peer));
      else if (Clock::now() >= deadline)
        all.push_back(fmt::format("rank {} said no hello in time", peer));
    }
    return fmt::format("{}", fmt::join(all, "; "));
  }

  void monitor() {
    const auto period = std::min<Clock::duration>(1s, shared_.timeout / 4);
    const auto look = std::min<Clock::duration>(kLook, period);
    auto next_beat = Clock::now();
    auto expected = Clock::now();
    bool told = false;
    std::unique_lock lock(shared_.mutex);
    while (!stopping_) {
      lock.unlock();
      const auto now = Clock::now();
      if (now - expected > 2 * period) each([&](Link& link) { link.excuse(now - expected); });
      each([](Link& link) { link.look(); });
      if (now >= next_beat) {
        each([&](Link& link) { link.beat(now); });
        next_beat = now + period;
      }
      if (!told && shared_.noticed_here) {
        tell_fault();
        told = true;
      }
      expected = Clock::now() + look;
      lock.lock();
      if (!stopping_ && (told || !shared_.noticed_here)) tick_.wait_until(lock, expected);
    }
  }

  std::optional<std::string> fault() const {
    try {
      shared_.latch.check();
    } catch (const Error& error) {
      return error.what();
    }
    return std::nullopt;
  }

  void tell_fault() {
    const std::optional<std::string> why = fault();
    each([&](Link& link) { link.farewell(why); });
  }

  // What this rank has sent still arrives: the connections stand until everybody has said so.
  void part() {
    const bool failed = shared_.latch.failed();
    tell_fault();
    const auto patience = std::min<Clock::duration>(
        failed ? Clock::duration(kShortFarewell) : Clock::duration(kLongestFarewell),
        shared_.timeout);
    const auto deadline = Clock::now() + patience;
    std::unique_lock lock(shared_.mutex);
    shared_.progress.wait_until(lock, deadline, [this] {
      return std::ranges::all_of(links_, [](const auto& link) { return !link || link->parted(); });
    });
  }

  const int rank_;
  const int size_;
  Shared shared_;
  std::vector<std::unique_ptr<Link>> links_;
  std::unique_ptr<Poster> poster_;  // goes before the links, whose frames it has
  std::mutex engine_;
  std::condition_variable tick_;
  bool stopping_ = false;
  std::thread monitor_;
};

}  // namespace

std::unique_ptr<Transport> make_transport(const Joining& joining, const Mesh& mesh,
                                          Clock::time_point deadline) {
  auto transport = std::make_unique<GlooTransport>(joining, mesh);
  transport->meet(mesh, deadline);
  return transport;
}

}  // namespace narrowcast::over_gloo
