#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"

// The face of this room: what a training run is, as data: its settings and where they come from, and
// what it tells of itself. No torch: whoever trains is loaded when asked for.
namespace narrowcast {

struct Optimiser {
  std::string name = "sgd";  // sgd, rmsprop, adam, lars
  double rate = 0.1;
  double momentum = 0;
  bool nesterov = false;
  double decay = 0.9;     // rmsprop's mean of squares; adam's first moment
  double decay2 = 0.999;  // adam's second moment
  double epsilon = 1e-8;
  double weight_decay = 0;
  double trust = 0.001;  // lars
  bool operator==(const Optimiser&) const = default;
};

// The learning rate over time, as a factor of Optimiser::rate.
struct Schedule {
  std::string shape = "constant";  // constant, exponential, steps, linear, cosine
  double warm_up = 0;              // epochs from `warm_from` to 1
  double warm_from = 0;
  double factor = 1;            // exponential: each epoch; steps: at each of `at`
  std::vector<double> at = {};  // epochs
  bool operator==(const Schedule&) const = default;
};
// At that point of training; epochs may be broken.
double rate_factor(const Schedule& schedule, double epoch, double epochs);

struct Run {
  std::string setup = {};  // the recipe that defaults came from; empty: the network's own
  std::string net = "mnist-mlp";
  std::string data = "fashion-mnist";
  std::filesystem::path data_folder = {};
  Parallel parallel = Parallel::data;
  int epochs = 10;
  std::uint64_t steps = 0;      // stop after so many in all; 0: after the epochs
  int batch = 128;              // images of one worker and step
  int accumulate = 1;           // backward passes whose gradients make one step
  Split split = Split::output;  // model: what of a layer workers divide
  int sub_batches = 1;          // hybrid: cut into so many, whose transfers overlap
  std::uint64_t seed = 1;
  Optimiser optimiser = {};
  Schedule schedule = {};
  double clip = 0;  // of the gradient's norm; 0: none
  int pad = 0;      // augmentation, see data/
  int crop = 0;
  bool flip = false;
  bool dropout = true;
  Plan plan = {};
  std::filesystem::path checkpoint = {};  // a folder; empty: none
  std::uint64_t checkpoint_every = 0;     // steps; 0: every epoch
  bool resume = false;
  std::filesystem::path weights = {};  // written at the end, as safetensors
  std::uint64_t hash_every = 100;      // steps after which replicas are compared; 0: epochs only
  int threads = 1;                     // of one worker
  bool test = true;                    // after every epoch
};

// A network that can be trained. Its builder is train/'s; a test holds the two lists together.
struct NetworkRow {
  std::string_view name;
  std::string_view summary;
  std::uint64_t parameters = 0;  // at `shape` and `classes`
  std::string_view shape;        // of its input, e.g. "3x224x224"
  int classes = 10;
  std::string_view data;  // that it is usually trained on
};
std::span<const NetworkRow> networks();
const NetworkRow& network_row(std::string_view name);  // Fault::usage lists the names

// A named set of settings: every network has one of its own name, and papers have theirs.
struct Recipe {
  std::string_view name;
  std::string_view summary;
  void (*apply)(Run& run);
};
std::span<const Recipe> recipes();
const Recipe& recipe_of(std::string_view name);  // Fault::usage lists the names

// Where settings come from: each later one wins. A key is that of run.toml: "net", "epochs",
// "optimiser.rate", "plan.fusion" ...
struct Setting {
  std::string key;
  std::string value;   // as TOML has it, or plain text
  std::string origin;  // "--epochs", "NARROWCAST_EPOCHS", "run.toml:7"
};
std::vector<Setting> read_settings(const std::filesystem::path& toml);
std::span<const std::string_view> run_keys();

// Recipe first, then the settings. Unknown keys and values that do not fit are Fault::usage, one line
// that starts with the origin.
Run resolve_run(std::span<const Setting> settings);

// All of it, so that reading it back gives the same run; with the plan.
std::string to_toml(const Run& run);

// ---- what a run tells, on rank 0 ----

struct Times {  // milliseconds a step, means
  double step = 0;
  double compute = 0;
  double encode = 0;
  double wire = 0;
  double decode = 0;
  double wait = 0;
  double overlap = 0;  // 0 to 1
};

struct Started {
  int ranks = 1;
  std::uint64_t parameters = 0;
  std::uint64_t train_images = 0;
  std::uint64_t test_images = 0;
  std::uint64_t steps_per_epoch = 0;
  std::uint64_t first_step = 0;         // after a checkpoint
  std::string torch = {};               // version
  std::string blas = {};                // kernels that OpenBLAS chose; empty for other libraries
  std::vector<std::string> notes = {};  // damaged checkpoints that were passed over
};

struct StepRecord {
  std::uint64_t step = 0;  // from 1
  std::uint64_t epoch = 0;
  double loss = 0;  // of rank 0's batch
  double rate = 0;
  double images_per_s = 0;  // of all ranks
  Times times = {};
  std::uint64_t wire_bytes = 0;  // that rank 0 sent
  bool skipped = false;
};

struct EpochRecord {
  std::uint64_t epoch = 0;  // from 1
  std::uint64_t step = 0;
  double train_loss = 0;             // mean over all ranks
  std::optional<double> test_error;  // percent
  double images_per_s = 0;
  Times times = {};
  std::uint64_t wire_bytes = 0;  // of rank 0, in this epoch
  std::uint64_t fp32_bytes = 0;  // what they would have been
  std::map<std::string, std::uint64_t> bytes_by_codec = {};
  std::uint64_t replica_hash = 0;
  std::uint64_t skipped = 0;
};

struct Summary {
  std::uint64_t steps = 0;
  std::uint64_t epochs = 0;
  bool stopped = false;  // by a signal; the checkpoint has everything
  std::optional<double> best_error;
  std::optional<double> last_error;
  double seconds = 0;
  std::uint64_t wire_bytes = 0;
  std::uint64_t fp32_bytes = 0;
  std::uint64_t replica_hash = 0;
  Times times = {};
};

class Listener {
 public:
  virtual ~Listener() = default;
  virtual void started(const Started& started) = 0;
  virtual void step(const StepRecord& record) = 0;
  virtual void epoch(const EpochRecord& record) = 0;
  virtual void saved(const std::filesystem::path& checkpoint, std::uint64_t step) = 0;
  virtual void finished(const Summary& summary) = 0;
};

}  // namespace narrowcast
