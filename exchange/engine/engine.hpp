#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/team.hpp"
#include "exchange/engine/bundle.hpp"
#include "exchange/engine/codecs.hpp"
#include "exchange/engine/meter.hpp"
#include "exchange/exchange.hpp"

namespace narrowcast {

class Exchange::Engine {
 public:
  Engine(Transport& net, const Plan& plan, std::vector<Tensor> tensors,
         const ExchangeOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const Transport& net() const { return net_; }
  const Plan& plan() const { return plan_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }

  void begin(const Moment& moment);
  void ready(std::size_t tensor, MutableFloats values);
  StepReport wait();
  void ask_to_stop() { stop_asked_ = true; }
  void set_rest(std::function<MutableFloats(std::size_t)> rest) { rest_ = std::move(rest); }

  // Between steps, on the caller's thread.
  void broadcast(MutableFloats values);
  std::vector<Array> save();
  void load(const std::vector<Array>& saved);
  const Tensor& tensor(std::size_t index) const;  // Fault::usage when there is none

 private:
  enum class State { idle, under_way, awaited };

  void check_tensors() const;
  void check_ways();
  void make_bundles(const ExchangeOptions& options);

  // Of the progress thread.
  void progress() noexcept;
  template <class Condition>
  bool await(const Condition& condition);  // false: the exchange ends
  void run_step();
  void carry(std::size_t bundle);
  void meet();
  void judge(const std::vector<std::uint8_t>& states);

  void fail(std::exception_ptr error) noexcept;
  void check_idle();  // throws what went wrong before, and Fault::usage within a step
  void deliver_rest();

  Plan plan_;
  std::vector<Tensor> tensors_;
  Metered net_;
  Team team_;
  Stopwatch stopwatch_;
  Codecs codecs_;
  Conversation control_;
  Common common_;
  std::vector<std::unique_ptr<Bundle>> bundles_;
  std::vector<std::size_t> bundle_of_;  // by tensor
  std::function<MutableFloats(std::size_t)> rest_;
  std::atomic<bool> stop_asked_ = false;

  // By tensor.
  std::vector<Item> items_;
  std::vector<std::vector<float>> stand_ins_;  // for tensors that this rank has not made ready
  std::vector<Residual> residuals_;
  std::vector<Residual> residuals_before_;  // the step, where it may be skipped
  StepReport report_;

  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::idle;
  Moment moment_;
  std::vector<std::size_t> missing_;  // tensors of each bundle that are not ready
  bool done_ = true;
  bool quit_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // the last, so that all else is there when it starts
};

}  // namespace narrowcast
