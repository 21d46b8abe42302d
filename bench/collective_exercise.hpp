#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "bench/aligned.hpp"
#include "bench/collective_expectation.hpp"
#include "bench/collective_replay.hpp"
#include "collective/collective.hpp"

namespace narrowcast::bench {

enum class Collective {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  send_receive,  // every rank to the next one, all at the same time
  transfer,      // from rank 0 to rank 1, which answers
};

std::string_view name_of(Collective collective);  // as commands call it: "allreduce"

enum class Residuals { off, on };

// What is measured; equal on all ranks. What it points to must outlive it.
struct CollectiveRequest {
  Collective collective = Collective::all_reduce;
  const AllReduceRow* algorithm = nullptr;  // of an all-reduce; none: still to be chosen
  const Codec* codec = nullptr;             // none: the engine's own
  std::size_t count = 0;                    // values, all parts together
  Reduction how = {};
  Residuals residuals = Residuals::off;
  int warm_up = 0;
  int iterations = 1;
  Inputs inputs = {};

  bool of_engine() const { return codec == nullptr; }
};

// Fault::usage when so many ranks cannot do that, or when the algorithm cannot; when none can, where
// it is still to be chosen.
void check(const CollectiveRequest& request, int ranks);

// The algorithm that takes the least time by what each declares.
const AllReduceRow& choose(const CollectiveRequest& request, const LinkCost& cost, int ranks);

// How many tensors of float32 a rank needs memory for.
std::size_t tensors_needed(const CollectiveRequest& request);

// One rank's part in a collective: its buffers, and what it does with them.
class Exercise {
 public:
  Exercise(const CollectiveRequest& request, int rank, int ranks);
  virtual ~Exercise() = default;
  Exercise(const Exercise&) = delete;
  Exercise& operator=(const Exercise&) = delete;

  // Everything as before the first run: what comes from others is NaN, and residuals are zero, so
  // that one bound holds for every run.
  void restore();

  virtual void run(std::uint64_t step, Conversation& group) = 0;

  // What is declared about this rank, if that were the codec.
  virtual Traffic traffic(const Codec& codec) = 0;

  virtual Expectation expectation() const = 0;
  // What must be in the result after that step to the bit; nothing where that cannot be told.
  const std::vector<Sample>& samples(std::uint64_t step);
  // What must be as expected; of the same size.
  virtual Floats result() const { return values_; }
  // Whether all ranks must have the same bits.
  virtual bool is_common() const { return true; }

 protected:
  // The part of the values that this rank starts with.
  virtual Stretch own() const { return {0, request_.count}; }

  // With residuals off.
  virtual std::vector<Sample> replay(std::uint64_t step) const = 0;

  Reduction how(std::uint64_t step) const;
  Travel travel(std::uint64_t step) const { return how(step).travel; }
  Stretch part(int index) const;  // one of as many as there are ranks
  std::vector<Piece> whole(const Codec& codec);
  std::vector<Piece> parts(const Codec& codec);
  // What is sent from elsewhere than the values.
  Piece outgoing(const Codec& codec);
  MutableFloats values() { return values_; }
  // The tensor that has these values.
  Play play(std::uint64_t step, std::uint64_t tensor, const Stretch& where) const;
  Play play(std::uint64_t step) const { return play(step, 0, {0, request_.count}); }

  const CollectiveRequest request_;
  const int rank_;
  const int ranks_;

 private:
  Piece piece(const Codec& codec, std::uint64_t tensor, const Stretch& where);

  AlignedFloats input_;
  AlignedFloats values_;
  AlignedFloats sender_residual_;
  AlignedFloats owner_residual_;
  std::optional<std::vector<Sample>> samples_;
};

// The request has been checked.
std::unique_ptr<Exercise> make_exercise(const CollectiveRequest& request, int rank, int ranks);

}  // namespace narrowcast::bench
