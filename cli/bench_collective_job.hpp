#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/collective_exercise.hpp"
#include "cli/ranks.hpp"

namespace narrowcast::cli {

// The options of a command that measures a collective.
struct CollectiveWords {
  bench::Collective collective = bench::Collective::all_reduce;
  std::vector<std::string> codecs;
  std::string least = "1K";
  std::string most = "64M";
  int factor = 4;
  int iterations = 20;
  int warm_up = 5;
  std::optional<std::string> algorithm;
  int group = 0;
  std::optional<std::string> sum;
  std::optional<std::string> self;
  bool average = false;
  std::optional<std::string> chunk;
  int threads = 1;
  bool residuals = false;
  std::string seed = "1";
  bool json = false;
  RankWords ranks;
};

void declare_collective(Arguments& arguments, CollectiveWords& words);

// What to measure with: a codec, or the engine's own all-reduce.
struct Subject {
  std::string name;              // as it was asked for
  std::unique_ptr<Codec> codec;  // none: the engine
};

// The words, looked at as a whole.
struct CollectiveJob {
  bench::Collective collective = bench::Collective::all_reduce;
  std::vector<Subject> subjects;
  std::vector<std::size_t> counts;
  const AllReduceRow* algorithm = nullptr;  // none: chosen for each codec and size
  Reduction how = {};
  bench::Residuals residuals = bench::Residuals::off;
  int warm_up = 0;
  int iterations = 1;
  int threads = 1;
  std::uint64_t seed = 1;
  bool json = false;

  // What has to be equal on all ranks.
  std::vector<Term> terms() const;
  bool has_engine() const;
  // Whether the size of groups matters: 0 is then that of rank 0's machine.
  bool has_groups() const;
  std::string_view sum_name() const;
  std::string_view self_name() const;
  // One measurement; an algorithm that is to be chosen is left open.
  bench::CollectiveRequest request(const Subject& subject, std::size_t count) const;
};

// Fault::usage when groups of that size make no hierarchy of so many ranks.
void require_groups(int group, int ranks);

// Fault::usage for what cannot be measured on these ranks, and Fault::system when there is no
// memory for it: before any rank is started.
CollectiveJob job_of(const CollectiveWords& words, const Ranks& ranks);

}  // namespace narrowcast::cli
