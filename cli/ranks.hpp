#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/command.hpp"
#include "cli/start.hpp"
#include "transport/agree.hpp"
#include "transport/counting.hpp"
#include "transport/environment.hpp"
#include "transport/shaped.hpp"

// From options and environment to connected ranks, for every command that runs on several.
namespace narrowcast::cli {

// The options that such a command takes.
struct RankWords {
  std::string transport = {};
  std::string workers = {};
  std::string hosts = {};
  double timeout = std::numeric_limits<double>::quiet_NaN();  // seconds; NaN: nobody has said
  std::string shape = {};
  std::string key_file = {};
  std::string rendezvous = {};
  bool encrypt = false;

  bool has_timeout() const { return !std::isnan(timeout); }
};

void declare_ranks(Arguments& arguments, RankWords& words);

// Ranks of this machine were started and one of them failed, which has said why.
struct JobEnded {
  int code = 0;
};

// What a command is to do on each rank. Only rank 0 prints, on a console that is its own.
struct Rank {
  Counting& net;
  const Console& console;

  bool speaks() const { return net.rank() == 0; }
};
using RankBody = std::function<void(const Rank&)>;

// The ranks of one run: threads of this process, processes that it starts, or those that some
// launcher has started and this process is one of.
class Ranks {
 public:
  // Looks at everything and starts nothing. Fault::usage for what does not go together.
  explicit Ranks(const RankWords& words, const Variables& variables = environment_variable);

  int size() const { return size_; }
  // Ranks that share this machine, as far as is known.
  int local_size() const { return local_size_; }
  // Ranks that are threads of this process.
  int process_ranks() const { return are_threads() ? size_ : 1; }
  const std::string& transport() const { return transport_; }
  bool is_shaped() const { return shape_.has_value(); }
  const std::string& shape_text() const { return words_.shape; }
  bool is_keyed() const { return key_.has_value(); }
  // What messages are protected by: "none", "checksum", "key" or "encryption".
  std::string_view sealing() const;
  // Whether no launcher has: they are threads of this process, or processes that it starts.
  bool starts_them() const { return launch_.launcher == Launcher::none; }
  // Whether somebody else has: neither this process nor the narrowcast that started it.
  bool has_launcher() const { return !starts_them() && launch_.launcher != Launcher::own; }

  // Runs the body on all ranks, after they have agreed on the terms, or on the rank that this
  // process is. Messages are counted as the body sends them. Over networks, and with a key
  // everywhere, they are sealed. Throws what went wrong, or JobEnded.
  void run(const Console& console, std::span<const Term> terms, const RankBody& body,
           const Care& care = {}) const;

 private:
  bool is_sealed() const;
  bool are_threads() const { return transport_ == "inproc"; }
  void find_place();
  void choose_start();
  void require_installed() const;
  std::chrono::milliseconds timeout() const;
  void be_one(std::unique_ptr<Transport> net, const Console& console, std::span<const Term> terms,
              const RankBody& body) const;
  void join(const Console& console, std::span<const Term> terms, const RankBody& body) const;

  RankWords words_;
  Launch launch_;
  std::string transport_;
  int size_ = 1;
  int local_size_ = 1;
  std::optional<Shape> shape_;
  std::optional<JobKey> key_;
};

}  // namespace narrowcast::cli
