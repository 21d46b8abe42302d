#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "plan/plan.hpp"
#include "store/store.hpp"
#include "transport/transport.hpp"

// The face of this room: named float buffers in, their sums over all ranks out, encoded on the way
// as a plan says, while the caller goes on computing. No torch.
namespace narrowcast {

// All ranks name the same tensors in the same order: that in which they become ready, roughly.
struct Tensor {
  std::string name;
  std::size_t elements = 0;
  std::optional<std::size_t> innermost = {};  // length of the innermost dimension
};

struct ExchangeOptions {
  std::uint64_t seed = 0;
  std::uint32_t channel = 16;  // the first of those it uses: one for each fused buffer and one more
  int threads = 1;             // that encode and decode
};

// What one step took and cost on this rank.
struct StepReport {
  double encode_ms = 0;
  double wire_ms = 0;
  double decode_ms = 0;
  double busy_ms = 0;  // of the thread that carries it out
  double wait_ms = 0;  // that the caller stood still in wait()
  // Part of the exchange that was hidden behind the caller's own work, 0 to 1.
  double overlap() const;
  // Sent by this rank, by spec as the plan has it; "control" is what belongs to no tensor. Codecs of
  // varying size that share a buffer divide what was measured by what each may take at most.
  std::map<std::string, std::uint64_t> bytes_by_codec;
  std::uint64_t bytes() const;
  std::uint64_t fp32_bytes = 0;  // what the same would have been in fp32
  bool skipped = false;          // non-finite values and NonFinitePolicy::skip_step: use no sums
  bool stop = false;             // some rank has called ask_to_stop() before its wait()
  std::vector<bool> used;        // by tensor: whether any rank has made it ready in this step
  // By tensor: when this rank had it ready; the clock's beginning where it had not.
  std::vector<std::chrono::steady_clock::time_point> ready_at;
};

// One step: begin(), ready() for tensors in any order and from any thread, wait(). A thread of its
// own does the rest, buffer by buffer in a fixed order.
class Exchange {
 public:
  // Agrees with the other ranks on plan, tensors and seed; Fault::usage names what differs, and what
  // the plan asks for at any time and cannot be done. Nothing is measured for algorithm "auto": a
  // network of 1 Gbit/s is assumed (docs/exchange.md).
  Exchange(Transport& net, const Plan& plan, std::vector<Tensor> tensors,
           const ExchangeOptions& options = {});
  // In the middle of a step, returns when the message under way is through or the transport gives
  // up on it.
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  int rank() const;
  int size() const;
  const std::vector<Tensor>& tensors() const;
  const Plan& plan() const;

  void begin(const Moment& moment);

  // The buffer is the exchange's until wait() returns, and then has the sum or the average.
  void ready(std::size_t tensor, MutableFloats values);

  // Returns when all sums are there and every rank has called it; ranks with several exchanges wait
  // for them in the same order. A tensor that is not ready by now counts as zeros; if another
  // rank has made it ready, its sum goes to `rest(tensor)`. Throws what went wrong; after that
  // everything throws.
  StepReport wait();

  // Where the sum of a tensor goes that this rank has not made ready. Not called for tensors that no
  // rank has. None: their sums are dropped.
  void set_rest(std::function<MutableFloats(std::size_t tensor)> rest);

  // From any thread or signal-safe flag reader: the next wait() on every rank says stop.
  void ask_to_stop();

  // Every rank gets rank 0's values, bit for bit; nothing is encoded.
  void broadcast(std::size_t tensor, MutableFloats values);
  void broadcast(MutableFloats values);  // of something that is no tensor of it

  // Residuals of all ranks, on rank 0; the others get none. All ranks call it, between steps.
  std::vector<Array> save();
  // The same, the other way round: rank 0 has the arrays. The number of ranks may have changed: then
  // every rank starts with the mean of the old senders', and the owners' are cut anew. What
  // check_residuals() refuses is refused by all ranks, which go on as if they had not been asked.
  void load(const std::vector<Array>& saved);

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

// Fault::wire names what is no saved residual of these tensors.
void check_residuals(const std::vector<Array>& saved, const std::vector<Tensor>& tensors);

}  // namespace narrowcast
