#include "cli/ranks.hpp"

#include <fmt/core.h>

#include <fstream>

#include "base/error.hpp"
#include "base/version.hpp"
#include "bench/collective_threads.hpp"
#include "cli/arguments.hpp"
#include "plan/counts.hpp"
#include "run/hosts.hpp"
#include "transport/module.hpp"
#include "transport/rendezvous.hpp"
#include "transport/sealed.hpp"
#include "transport/shaped.hpp"
#include "transport/shm.hpp"

namespace narrowcast::cli {
namespace {

constexpr int kUsualWorkers = 2;
constexpr int kMostThreads = 1024;
constexpr double kLongestTimeout = 86400;

template <typename... Parts>
[[noreturn]] void refuse(fmt::format_string<Parts...> text, Parts&&... parts) {
  throw Error(Fault::usage, fmt::format(text, std::forward<Parts>(parts)...));
}

bool is_network(std::string_view transport) { return transport == "gloo" || transport == "mpi"; }

// With --rendezvous, somebody else starts the ranks and says which is which, but not where they
// meet: as if narrowcast's own launcher had named the place.
Variables with_rendezvous(const RankWords& words, const Variables& variables) {
  if (words.rendezvous.empty()) return variables;
  parse_meeting_place(words.rendezvous);
  if (!words.workers.empty() || !words.hosts.empty())
    refuse("--rendezvous is for ranks that others start; leave {} out",
           words.hosts.empty() ? "--workers" : "--hosts");
  if (!words.transport.empty() && words.transport != "gloo")
    refuse("--rendezvous is for --transport gloo, not {}", words.transport);
  if (!variables("RANK") || !variables("WORLD_SIZE"))
    refuse("--rendezvous needs a launcher that sets RANK and WORLD_SIZE, as torchrun does");
  return
      [place = words.rendezvous, variables](std::string_view name) -> std::optional<std::string> {
        if (name == "NARROWCAST_RENDEZVOUS") return place;
        if (name == "NARROWCAST_TRANSPORT") return "gloo";
        return variables(name);
      };
}

// Where rank 0 of ranks that we started shows its progress: standard error goes through a pipe.
class ProgressConsole {
 public:
  explicit ProgressConsole(const Console& console) : console_(console) {}

  const Console& console() {
    const std::optional<std::string> place = environment_variable(kProgressVariable);
    if (!place) return console_;
    terminal_.open(*place);
    own_.emplace(Console{.in = console_.in,
                         .out = console_.out,
                         .err = terminal_,
                         .terminals = console_.terminals,
                         .target = console_.target,
                         .words = console_.words});
    own_->terminals.err = terminal_.is_open();
    return *own_;
  }

 private:
  const Console& console_;
  std::ofstream terminal_;
  std::optional<Console> own_;
};

}  // namespace

void declare_ranks(Arguments& arguments, RankWords& words) {
  arguments.option("--transport NAME", words.transport,
                   "shm, gloo or mpi; inproc: ranks are threads [what the launcher needs, else "
                   "shm]");
  arguments.option("--workers N", words.workers,
                   "Start so many ranks on this machine [2, unless a launcher has started some]");
  arguments.option("--hosts FILE", words.hosts,
                   "Start ranks there by $NARROWCAST_RSH [ssh]: a line is 'address [slots]'");
  arguments.option("--rendezvous URL", words.rendezvous,
                   "Where gloo ranks of RANK and WORLD_SIZE meet: tcp://HOST:PORT, "
                   "file:///FOLDER, redis://HOST:PORT [MASTER_ADDR]");
  arguments.option("--timeout S", words.timeout,
                   "Seconds after which a silent rank counts as lost [300]");
  arguments.option("--shape RATE", words.shape,
                   "As slow as a link of that rate and latency, e.g. 1gbit or 100mbit,200us");
  arguments.option("--key-file FILE", words.key_file,
                   "Job key: messages are authenticated [$NARROWCAST_KEY_FILE]");
  arguments.flag("--encrypt", words.encrypt, "Encrypt messages too; needs a job key");
}

Ranks::Ranks(const RankWords& words, const Variables& variables)
    : words_(words), launch_(read_launch(with_rendezvous(words, variables))) {
  if (!words.transport.empty()) transport_row(words.transport);
  if (!words.has_timeout()) words_.timeout = std::chrono::duration<double>(kDefaultTimeout).count();
  if (!(words_.timeout > 0 && words_.timeout <= kLongestTimeout))
    refuse("--timeout takes seconds up to {:g}", kLongestTimeout);
  if (!words.shape.empty()) shape_ = parse_shape(words.shape);
  const std::filesystem::path key_file =
      words.key_file.empty() ? launch_.key_file : std::filesystem::path(words.key_file);
  if (!key_file.empty()) key_ = read_job_key(key_file);
  require(key_ || !words.encrypt, Fault::usage,
          "--encrypt needs a job key: --key-file FILE, or NARROWCAST_KEY_FILE");
  if (launch_.launcher == Launcher::none)
    choose_start();
  else
    find_place();
  require_installed();
}

// Somebody has started this process as one of several.
void Ranks::find_place() {
  size_ = launch_.place.size;
  local_size_ = launch_.place.local_size;
  transport_ = words_.transport.empty() ? launch_.transport : words_.transport;
  if (launch_.launcher == Launcher::own) return;
  const std::string_view launcher = name_of(launch_.launcher);
  if (!words_.workers.empty() || !words_.hosts.empty())
    refuse("{} starts ranks, but {} has started {} already",
           words_.hosts.empty() ? "--workers" : "--hosts", launcher, size_);
  if (transport_ != launch_.transport)
    refuse("ranks that {} starts use --transport {}, not {}", launcher, launch_.transport,
           transport_);
}

// Nobody has: so this process starts them.
void Ranks::choose_start() {
  const bool on_hosts = !words_.hosts.empty();
  if (words_.transport == "mpi" && find_module("openmpi").empty() && find_module("mpich").empty())
    refuse("mpi is not installed: apt-get install libopenmpi-dev or libmpich-dev, then {}",
           how_to_build());
  if (words_.transport == "mpi")
    refuse("mpi ranks are started by mpirun or srun, as in 'mpirun -n 2 narrowcast ...'");
  require(!on_hosts || words_.workers.empty(), Fault::usage,
          "--hosts says how many ranks there are; leave --workers out");
  if (on_hosts && !words_.transport.empty() && words_.transport != "gloo")
    refuse("ranks on several hosts use --transport gloo, not {}", words_.transport);
  transport_ = on_hosts ? "gloo" : words_.transport.empty() ? "shm" : words_.transport;
  if (on_hosts) {
    const std::vector<Host> hosts = read_hosts(words_.hosts);
    size_ = ranks_on(hosts);
    local_size_ = hosts.front().slots;
    return;
  }
  const std::uint64_t most = transport_ == "shm" ? kMostShmRanks : kMostThreads;
  const std::uint64_t asked =
      words_.workers.empty() ? kUsualWorkers : parse_number(words_.workers, "a number of ranks");
  if (asked < 1 || asked > most) refuse("--workers takes 1 to {} over {}", most, transport_);
  size_ = static_cast<int>(asked);
  local_size_ = size_;
}

// Found out here, before anything is started.
void Ranks::require_installed() const {
  if (transport_ == "gloo" && find_module("gloo").empty())
    refuse("gloo is not installed: apt-get install libgloo-dev, then {}", how_to_build());
}

void Ranks::be_one(std::unique_ptr<Transport> net, const Console& console,
                   std::span<const Term> terms, const RankBody& body) const {
  if (shape_) net = shaped(std::move(net), *shape_);
  if (is_sealed())
    net = seal(std::move(net),
               {.key = key_, .secrecy = words_.encrypt ? Secrecy::encrypted : Secrecy::authentic});
  Counting counting(std::move(net));
  std::vector<Term> all = {{"build", std::string(commit())}};
  all.insert(all.end(), terms.begin(), terms.end());
  agree(counting, all);
  body({counting, console});
}

bool Ranks::is_sealed() const { return key_ || is_network(transport_); }

std::string_view Ranks::sealing() const {
  if (!is_sealed()) return "none";
  if (!key_) return "checksum";
  return words_.encrypt ? "encryption" : "key";
}

std::chrono::milliseconds Ranks::timeout() const {
  return std::chrono::ceil<std::chrono::milliseconds>(
      std::chrono::duration<double>(words_.timeout));
}

void Ranks::join(const Console& console, std::span<const Term> terms, const RankBody& body) const {
  const Joining joining{.place = launch_.place,
                        .rendezvous = launch_.rendezvous,
                        .timeout = timeout(),
                        .key = key_,
                        .secrecy = words_.encrypt ? Secrecy::encrypted : Secrecy::authentic};
  std::unique_ptr<Transport> net = transport_row(transport_).join(joining);
  ProgressConsole own(console);
  const Console& place = net->rank() == 0 ? own.console() : console;
  be_one(std::move(net), place, terms, body);
}

void Ranks::run(const Console& console, std::span<const Term> terms, const RankBody& body,
                const Care& care) const {
  if (launch_.launcher != Launcher::none) return join(console, terms, body);
  if (!words_.hosts.empty()) return start_on_hosts(read_hosts(words_.hosts), console, care);
  if (!are_threads()) return start_workers(size_, transport_, console, care);
  bench::on_threads(
      size_, [&](std::unique_ptr<Transport> net) { be_one(std::move(net), console, terms, body); },
      timeout());
}

}  // namespace narrowcast::cli
