#include "train/loop/replica.hpp"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "train/loop/hybrid.hpp"
#include "train/loop/splitting.hpp"

namespace narrowcast {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kActivations = 4;  // channel; the exchange's begin later
constexpr std::size_t kTestBatch = 500;

double ms_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - start).count();
}
double ms_since(Clock::time_point start) { return ms_between(start, Clock::now()); }

// Weights are drawn from a generator that the whole process shares.
std::shared_ptr<Network> make_seeded(const Run& run, const Workshop& workshop) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  torch::manual_seed(run.seed);
  return make_network(run.net, workshop);
}

void require_possible(const Run& run) {
  if (run.parallel == Parallel::data) return;
  require(run.plan.non_finite == NonFinitePolicy::propagate, Fault::usage,
          "non_finite = skip-step and fail look at gradients that travel: use --parallel data");
  require(run.clip == 0, Fault::usage,
          "clip needs the norm of all gradients, of which a rank has a part: use --parallel data");
  require(run.parallel == Parallel::model || run.accumulate == 1, Fault::usage,
          "accumulate is for --parallel data and model; a hybrid has sub_batches");
}

Array array_of(std::string name, const torch::Tensor& tensor) {
  const torch::Tensor plain = tensor.detach().contiguous();
  Array array;
  array.name = std::move(name);
  array.shape = plain.sizes().vec();
  if (plain.scalar_type() == torch::kInt64)
    array.dtype = Dtype::i64;
  else
    require(plain.scalar_type() == torch::kFloat32, Fault::usage,
            "only float32 and int64 tensors can be saved");
  const auto* bytes = static_cast<const std::byte*>(plain.data_ptr());
  array.bytes.assign(bytes, bytes + plain.nbytes());
  return array;
}

void read_into(const torch::Tensor& tensor, const std::vector<Array>& arrays,
               const std::string& name) {
  const auto found = std::ranges::find(arrays, name, &Array::name);
  if (found == arrays.end())
    throw Error(Fault::wire, fmt::format("the checkpoint has no '{}'", name));
  if (found->shape != tensor.sizes().vec() || found->bytes.size() != tensor.nbytes())
    throw Error(Fault::wire, fmt::format("the checkpoint's '{}' has another shape", name));
  std::copy(found->bytes.begin(), found->bytes.end(), static_cast<std::byte*>(tensor.data_ptr()));
}

}  // namespace

class Replica::Parts {
 public:
  Parts(const Run& run, const ImageShape& shape, int classes, Transport& net)
      : run_(run), rank_(net.rank()), ranks_(net.size()) {
    require_possible(run);
    dice_.seed = run.seed;
    if (run.parallel == Parallel::data) dice_.rank = static_cast<std::uint32_t>(rank_);
    if (run.parallel != Parallel::data)
      link_ = std::make_unique<ActivationLink>(net, kActivations, run.plan.activations,
                                               run.plan.errors, run.seed);
    network_ = make_seeded(run, workshop(shape, classes));
    split_ = split_layers(*network_);
    require(run.parallel != Parallel::model || features_have_no_parameters(), Fault::usage,
            "this network has convolutions, which --parallel model does not split: use hybrid");
    local_ = split_parameters(*network_);
    const DataParallelOptions options = {.local = local_};
    exchange_ = std::make_unique<Exchange>(net, run.plan, tensors_of(*network_, options),
                                           ExchangeOptions{.seed = run.seed, .threads = 1});
    dp_ = std::make_unique<DataParallel>(network_, *exchange_, options);
    stepper_ = make_stepper(run.optimiser, named_parameters());
  }

  std::uint64_t parameters() const {
    std::uint64_t count = 0;
    for (const auto& [name, parameter] : named_parameters())
      count += is_split(name) ? whole_elements(split_, name) : parameter.numel();
    return count;
  }

  StepOutcome step(Feed& feed, const When& when) {
    const Clock::time_point start = Clock::now();
    dice_.step = when.moment.step;
    network_->train();
    dp_->set_moment(when.moment);
    if (link_) link_->set_step(when.moment.step);
    StepOutcome outcome;
    if (run_.parallel == Parallel::hybrid)
      outcome.loss = go_hybrid(feed, when);
    else
      go(feed, when, outcome);
    outcome.forward_ms = ms_between(start, outcome.backward_begins);
    outcome.report = dp_->wait();
    if (link_) add_costs(outcome.report, link_->take_costs());
    if (!outcome.report.skipped) {
      if (run_.clip > 0) torch::nn::utils::clip_grad_norm_(network_->parameters(), run_.clip);
      stepper_->step(when.rate);
    }
    for (torch::Tensor& parameter : network_->parameters())
      parameter.mutable_grad() = torch::Tensor();
    outcome.step_ms = ms_since(start);
    return outcome;
  }

  double test(Feed& feed, std::size_t images, RankTalk& talk) {
    const torch::NoGradGuard no_gradients;
    dp_->broadcast_buffers();
    network_->eval();
    // Split layers need all ranks at the same images; otherwise each rank looks at its share.
    const bool together = run_.parallel != Parallel::data;
    const std::size_t ranks = together ? 1 : static_cast<std::size_t>(ranks_);
    const std::size_t rank = together ? 0 : static_cast<std::size_t>(rank_);
    const std::size_t last = images * (rank + 1) / ranks;
    std::int64_t wrong = 0;
    for (std::size_t first = images * rank / ranks; first < last; first += kTestBatch) {
      const Batch batch = feed.testing(first, std::min(kTestBatch, last - first));
      const torch::Tensor answer = network_->forward(batch.images).argmax(1);
      wrong += answer.ne(batch.labels).sum().item<std::int64_t>();
    }
    if (link_) link_->take_costs();
    const float all =
        together ? static_cast<float>(wrong) : talk.sum({static_cast<float>(wrong)})[0];
    return 100.0 * all / static_cast<double>(images);
  }

  std::uint64_t hash() const {
    std::vector<std::pair<std::string, torch::Tensor>> whole;
    for (const auto& [name, parameter] : named_parameters())
      if (!is_split(name)) whole.emplace_back(name, parameter.detach().contiguous());
    std::ranges::sort(whole, {}, [](const auto& named) { return named.first; });
    std::uint64_t hash = 0;
    for (const auto& [name, tensor] : whole)
      hash = checksum({static_cast<const std::byte*>(tensor.data_ptr()), tensor.nbytes()}, hash);
    return hash;
  }

  std::vector<Array> save() {
    dp_->broadcast_buffers();
    std::vector<Array> arrays;
    each_saved([&](const std::string& name, const std::string& parameter, torch::Tensor& tensor) {
      const torch::Tensor whole =
          is_split(parameter) ? whole_of(split_, parameter, tensor, *link_) : tensor;
      if (rank_ == 0) arrays.push_back(array_of(name, whole));
    });
    if (rank_ == 0)
      arrays.push_back(
          array_of("optimiser/steps", torch::tensor({stepper_->steps}, torch::kInt64)));
    for (Array& residual : dp_->save()) arrays.push_back(std::move(residual));
    return arrays;
  }

  std::vector<Array> weights() {
    dp_->broadcast_buffers();
    std::vector<Array> arrays;
    each_weight([&](const std::string& name, torch::Tensor& tensor) {
      const torch::Tensor whole = is_split(name) ? whole_of(split_, name, tensor, *link_) : tensor;
      if (rank_ == 0) arrays.push_back(array_of(name, whole));
    });
    return arrays;
  }

  void load(const std::vector<Array>& arrays, RankTalk& talk) {
    const torch::NoGradGuard no_gradients;
    each_saved([&](const std::string& name, const std::string& parameter, torch::Tensor& tensor) {
      const bool split = is_split(parameter);
      torch::Tensor whole = split ? whole_like(split_, parameter, tensor) : tensor.detach();
      if (rank_ == 0) read_into(whole, arrays, name);
      talk.broadcast(whole);
      if (split) tensor.copy_(part_of(split_, parameter, whole));
    });
    torch::Tensor steps = torch::zeros({1}, torch::kInt64);
    if (rank_ == 0) read_into(steps, arrays, "optimiser/steps");
    talk.broadcast(steps);
    stepper_->steps = steps.item<std::int64_t>();
    std::vector<Array> residuals;
    for (const Array& array : arrays)
      if (array.name.starts_with("residual/")) residuals.push_back(array);
    dp_->load(residuals);
  }

  void ask_to_stop() { exchange_->ask_to_stop(); }
  const std::vector<Tensor>& tensors() const { return exchange_->tensors(); }

 private:
  Workshop workshop(const ImageShape& shape, int classes) {
    Workshop workshop = {.input = shape, .classes = classes};
    if (run_.dropout) workshop.dice = &dice_;
    if (link_) workshop.linear = split_linear_maker(*link_, run_.parallel, run_.split);
    return workshop;
  }

  bool features_have_no_parameters() const {
    return std::ranges::none_of(
        named_parameters(), [](const auto& named) { return named.first.starts_with("features."); });
  }

  bool is_split(const std::string& name) const { return splits(split_, name); }

  NamedParameters named_parameters() const {
    NamedParameters named;
    for (const auto& item : network_->named_parameters())
      named.emplace_back(item.key(), item.value());
    return named;
  }

  template <class Call>
  void each_weight(Call call) {
    for (auto& [name, parameter] : named_parameters()) call(name, parameter);
    for (auto& item : network_->named_buffers()) call(item.key(), item.value());
  }

  // call(name in the file, parameter that it is of the shape of, tensor)
  template <class Call>
  void each_saved(Call call) {
    each_weight([&](const std::string& name, torch::Tensor& tensor) {
      call("weights/" + name, name, tensor);
    });
    for (auto& [name, tensor] : stepper_->state())
      call("optimiser/" + name, name.substr(name.find('/') + 1), tensor);
  }

  void go(Feed& feed, const When& when, StepOutcome& outcome) {
    const auto parts = static_cast<std::size_t>(run_.accumulate);
    double loss_sum = 0;
    for (std::size_t part = 0; part < parts; ++part) {
      std::optional<DataParallel::NoSync> quiet;
      if (part + 1 < parts) quiet.emplace(*dp_);
      dice_.hop = static_cast<std::uint32_t>(part);
      const Batch batch = feed.training(when.step_in_epoch, part, parts);
      const torch::Tensor scores = network_->forward(batch.images);
      const torch::Tensor loss = torch::nn::functional::cross_entropy(scores, batch.labels);
      outcome.backward_begins = Clock::now();
      (parts == 1 ? loss : loss / static_cast<double>(parts)).backward();
      outcome.backward_ms = ms_since(outcome.backward_begins);
      loss_sum += loss.item<double>();
    }
    outcome.loss = loss_sum / static_cast<double>(parts);
  }

  double go_hybrid(Feed& feed, const When& when) {
    const Batch batch = feed.training(when.step_in_epoch, 0, 1);
    const auto before = [this](int k) { dice_.hop = static_cast<std::uint32_t>(k); };
    return hybrid_step(*network_, {batch.images, batch.labels, run_.sub_batches, before}, *link_)
        .loss;
  }

  static void add_costs(StepReport& report, const ActivationLink::Costs& costs) {
    report.encode_ms += costs.encode_ms;
    report.wire_ms += costs.wire_ms;
    report.decode_ms += costs.decode_ms;
    report.wait_ms += costs.wait_ms;
    report.busy_ms += costs.encode_ms + costs.wire_ms + costs.decode_ms;
    report.fp32_bytes += costs.fp32_bytes;
    for (const auto& [codec, bytes] : costs.bytes_by_codec) report.bytes_by_codec[codec] += bytes;
  }

  const Run& run_;
  int rank_;
  int ranks_;
  // Of dropout: masks differ by rank where the images do; layers that are split share theirs.
  Dice dice_;
  std::unique_ptr<ActivationLink> link_;
  std::shared_ptr<Network> network_;
  SplitLayers split_;
  std::vector<std::string> local_;
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<DataParallel> dp_;
  std::unique_ptr<Stepper> stepper_;
};

Replica::Replica(const Run& run, const ImageShape& shape, int classes, Transport& net)
    : parts_(std::make_unique<Parts>(run, shape, classes, net)),
      parameters_(parts_->parameters()) {}

Replica::~Replica() = default;

StepOutcome Replica::step(Feed& feed, const When& when) { return parts_->step(feed, when); }

void Replica::ask_to_stop() { parts_->ask_to_stop(); }

const std::vector<Tensor>& Replica::tensors() const { return parts_->tensors(); }

double Replica::test(Feed& feed, std::size_t images, RankTalk& talk) {
  return parts_->test(feed, images, talk);
}

std::uint64_t Replica::hash() const { return parts_->hash(); }

std::vector<Array> Replica::save() { return parts_->save(); }

std::vector<Array> Replica::weights() { return parts_->weights(); }

void Replica::load(const std::vector<Array>& arrays, RankTalk& talk) { parts_->load(arrays, talk); }

}  // namespace narrowcast
