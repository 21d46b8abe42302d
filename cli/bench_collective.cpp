#include <fmt/core.h>

#include <memory>

#include "bench/collective_link.hpp"
#include "cli/arguments.hpp"
#include "cli/bench_collective_job.hpp"
#include "cli/bench_collective_report.hpp"
#include "cli/progress.hpp"
#include "plan/counts.hpp"

namespace narrowcast::cli {
namespace {

using bench::Collective;

// Who is not asked for an algorithm has one all the same.
std::string_view algorithm_of(const bench::CollectiveRequest& request) {
  if (request.of_engine()) return "engine";
  switch (request.collective) {
    case Collective::all_reduce:
      return request.algorithm->name;
    case Collective::all_gather:
    case Collective::reduce_scatter:
      return "direct";
    case Collective::broadcast:
      return "chain";
    case Collective::send_receive:
    case Collective::transfer:
      break;
  }
  return "pairs";
}

// Measures everything on one rank; rank 0 reports.
class Measuring {
 public:
  Measuring(const CollectiveJob& job, const Ranks& ranks, const Rank& rank)
      : job_(job),
        rank_(rank),
        local_size_(ranks.local_size()),
        team_(job.threads),
        bench_(rank.net, team_, ranks.local_size()),
        progress_(rank.console, rank.speaks() ? job.counts.size() * job.subjects.size() : 0),
        report_(job, ranks, rank.console) {}

  void run() {
    try {
      settle_groups();
      price_links();
      for (const std::size_t count : job_.counts) measure(count);
    } catch (...) {
      progress_.clear();
      if (rank_.speaks()) report_.print_table();
      throw;
    }
    progress_.clear();
    if (rank_.speaks()) report_.finish();
  }

 private:
  bool chooses() const {
    return job_.collective == Collective::all_reduce && job_.algorithm == nullptr;
  }

  void settle_groups() {
    group_ = job_.how.group;
    if (!job_.has_groups() || group_ != 0) return;
    group_ = bench_.control().share(local_size_);
    if (!chooses()) require_groups(group_, rank_.net.size());
  }

  void price_links() {
    for (const Subject& subject : job_.subjects) {
      costs_.emplace_back();
      if (!chooses() || subject.codec == nullptr) continue;
      costs_.back() = bench::measure_link(bench_.control(), local_size_, *subject.codec, team_);
      report_.remark(remark(subject, costs_.back()));
    }
  }

  static std::string remark(const Subject& subject, const LinkCost& cost) {
    const auto path = [](const LinkCost::Path& link) {
      return fmt::format("{:.1f} us and {:.3f} ns a byte", link.message_us, link.byte_us * 1e3);
    };
    return fmt::format(
        "auto: a message takes {} within a machine, {} between machines; {} takes {:.2f} ns to "
        "encode and {:.2f} to decode a value",
        path(cost.machine), path(cost.network), subject.name, cost.encode_us * 1e3,
        cost.decode_us * 1e3);
  }

  void measure(std::size_t count) {
    std::vector<CollectiveRow> rows;
    for (std::size_t i = 0; i < job_.subjects.size(); ++i) {
      const Subject& subject = job_.subjects[i];
      bench::CollectiveRequest request = job_.request(subject, count);
      request.how.group = group_;
      if (chooses() && !request.of_engine())
        request.algorithm = &bench::choose(request, costs_[i], rank_.net.size());
      if (rank_.speaks())
        progress_.next(subject.name + ", " + count_text(count * sizeof(float)) + " bytes");
      rows.push_back({.codec = subject.name,
                      .algorithm = std::string(algorithm_of(request)),
                      .time = bench_.measure(request),
                      .group = group_});
    }
    progress_.clear();
    if (rank_.speaks()) report_.add(std::move(rows));
  }

  const CollectiveJob& job_;
  const Rank& rank_;
  int local_size_;
  int group_ = 0;
  Team team_;
  bench::CollectiveBench bench_;
  Progress progress_;
  CollectiveReport report_;
  std::vector<LinkCost> costs_;  // by subject
};

void bench_collective(const CollectiveWords& words, const Console& console) {
  const Ranks ranks(words.ranks);
  const CollectiveJob job = job_of(words, ranks);
  ranks.run(console, job.terms(), [&](const Rank& rank) { Measuring(job, ranks, rank).run(); });
}

Action declare(Arguments& arguments, Collective collective) {
  const auto words = std::make_shared<CollectiveWords>();
  words->collective = collective;
  declare_collective(arguments, *words);
  return [words](const Console& console) { bench_collective(*words, console); };
}

}  // namespace

Action declare_bench_allreduce(Arguments& arguments) {
  return declare(arguments, Collective::all_reduce);
}
Action declare_bench_allgather(Arguments& arguments) {
  return declare(arguments, Collective::all_gather);
}
Action declare_bench_reducescatter(Arguments& arguments) {
  return declare(arguments, Collective::reduce_scatter);
}
Action declare_bench_broadcast(Arguments& arguments) {
  return declare(arguments, Collective::broadcast);
}
Action declare_bench_sendrecv(Arguments& arguments) {
  return declare(arguments, Collective::send_receive);
}
Action declare_bench_transfer(Arguments& arguments) {
  return declare(arguments, Collective::transfer);
}

}  // namespace narrowcast::cli
