#include "train/parts/line.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>

#include "transport/wrapper.hpp"

namespace narrowcast {

Courier::~Courier() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  news_.notify_one();
  if (thread_.joinable()) thread_.join();
}

std::future<void> Courier::start(std::function<void()> errand) {
  std::packaged_task<void()> task(std::move(errand));
  std::future<void> done = task.get_future();
  {
    const std::lock_guard lock(mutex_);
    errands_.push_back(std::move(task));
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
  news_.notify_one();
  return done;
}

void Courier::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    news_.wait(lock, [&] { return leaving_ || !errands_.empty(); });
    if (errands_.empty()) return;
    std::packaged_task<void()> task = std::move(errands_.front());
    errands_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

// The transport that somebody else owns, with the bytes that a line sends counted: codecs of
// variable size do not say beforehand.
class Line::Meter final : public Transport {
 public:
  explicit Meter(Transport& net) : net_(net) {}

  int rank() const override { return net_.rank(); }
  int size() const override { return net_.size(); }
  void poke() override { net_.poke(); }
  std::uint64_t take() { return sent_.exchange(0); }

 private:
  std::unique_ptr<Transfer> do_send(const Slot& to, Bytes message, const Stamp& stamp) override {
    sent_ += message.size();
    return std::make_unique<PassedOn>(net_.send(to, message, stamp));
  }
  std::unique_ptr<Transfer> do_receive(const Slot& from, MutableBytes buffer) override {
    return std::make_unique<PassedOn>(net_.receive(from, buffer));
  }

  Transport& net_;
  std::atomic<std::uint64_t> sent_ = 0;
};

class Line::Stopwatches final : public Probe {
 public:
  void start(Work work) override { begun_[index(work)] = Clock::now(); }
  void stop(Work work) override {
    const Span taken = Clock::now() - begun_[index(work)];
    taken_ms_[index(work)] += taken.count();
  }
  double take(Work work) { return std::exchange(taken_ms_[index(work)], 0); }

 private:
  using Clock = std::chrono::steady_clock;
  using Span = std::chrono::duration<double, std::milli>;
  static std::size_t index(Work work) { return static_cast<std::size_t>(work); }

  std::array<Clock::time_point, 3> begun_ = {};
  std::array<double, 3> taken_ms_ = {};
};

Line::Line(Transport& net, std::uint32_t number, const Way& way, std::uint64_t seed)
    : number_(number),
      spec_(way.codec),
      seed_(seed),
      fp32_(make_codec("fp32")),
      watches_(std::make_unique<Stopwatches>()),
      meter_(std::make_unique<Meter>(net)),
      group_(*meter_, number, {.probe = watches_.get()}) {
  codec_for(1);  // a spec that does not exist is refused here, not in the first step
}

Line::~Line() = default;

void Line::set_step(std::uint64_t step) {
  step_ = step;
  calls_ = 0;
}

const Codec& Line::codec_for(std::size_t innermost) {
  std::unique_ptr<Codec>& codec = codecs_[innermost];
  if (!codec) codec = make_codec(spec_, {.innermost = innermost});
  return *codec;
}

Travel Line::next_travel() {
  ++calls_;
  return {.seed = seed_, .step = step_};
}

// Layer, line, call and part: dice are thrown once for each of them in a step.
std::vector<Piece> Line::pieces(const Parts& parts, const Cargo& cargo) {
  const std::uint64_t call =
      cargo.layer << 48 | std::uint64_t{number_ & 0xff} << 40 | (calls_ & 0xff'ffff) << 16;
  std::vector<Piece> list;
  for (const MutableFloats part : parts) {
    const std::size_t innermost =
        std::max<std::size_t>(part.size() / std::max<std::size_t>(cargo.rows, 1), 1);
    list.push_back({.tensor = call | list.size(), .values = part, .codec = &codec_for(innermost)});
  }
  return list;
}

void Line::note_fp32(std::vector<Piece> pieces, const std::function<Traffic(Pieces)>& traffic) {
  for (Piece& piece : pieces) piece.codec = fp32_.get();
  fp32_bytes_ += traffic(pieces).bytes();
}

void Line::gather(const Parts& parts, const Cargo& cargo) {
  const Travel travel = next_travel();
  const std::vector<Piece> list = pieces(parts, cargo);
  all_gather(list, travel, group_);
  note_fp32(list, [&](Pieces fp32) {
    return all_gather_traffic(fp32, travel, group_.rank(), group_.size());
  });
}

void Line::sum(MutableFloats values, const Cargo& cargo) {
  const AllReduceRow& row = all_reduce_row("direct");
  const Reduction how = {.travel = next_travel()};
  const std::vector<Piece> list = pieces({values}, cargo);
  all_reduce(row, list, how, group_);
  note_fp32(list,
            [&](Pieces fp32) { return row.traffic(fp32, how, group_.rank(), group_.size()); });
}

void Line::scatter(const Parts& parts, const Cargo& cargo) {
  const Travel travel = next_travel();
  const std::vector<Piece> list = pieces(parts, cargo);
  reduce_scatter(list, travel, group_);
  note_fp32(list, [&](Pieces fp32) {
    return reduce_scatter_traffic(fp32, travel, group_.rank(), group_.size());
  });
}

void Line::take_costs(ActivationLink::Costs& costs) {
  costs.encode_ms += watches_->take(Work::encode);
  costs.wire_ms += watches_->take(Work::wire);
  costs.decode_ms += watches_->take(Work::decode);
  if (const std::uint64_t sent = meter_->take(); sent > 0) costs.bytes_by_codec[spec_] += sent;
  costs.fp32_bytes += std::exchange(fp32_bytes_, 0);
}

}  // namespace narrowcast
