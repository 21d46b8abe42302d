#include "exchange/engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "exchange/engine/agreement.hpp"
#include "exchange/engine/keeping.hpp"

namespace narrowcast {
namespace {

// What a rank says of a tensor in the control round; the largest of all ranks' counts.
constexpr std::uint8_t kUnused = 0;
constexpr std::uint8_t kUsed = 1;
constexpr std::uint8_t kNotFinite = 2;

// All at which some tensor may begin to travel in another way.
std::vector<Moment> changes_in(const Plan& plan) {
  std::vector<Moment> moments = {{}};
  for (const Rule& rule : plan.rules)
    for (const Change& change : rule.schedule)
      moments.push_back(rule.unit == Unit::step ? Moment{.step = change.from}
                                                : Moment{.epoch = change.from});
  return moments;
}

}  // namespace

Exchange::Engine::Engine(Transport& net, const Plan& plan, std::vector<Tensor> tensors,
                         const ExchangeOptions& options)
    : plan_(plan),
      tensors_(std::move(tensors)),
      net_(net),
      team_(options.threads),
      control_(net_, options.channel, {.team = &team_}),
      common_{plan_, tensors_, codecs_, net_, options.seed},
      bundle_of_(tensors_.size()),
      items_(tensors_.size()),
      stand_ins_(tensors_.size()),
      residuals_(tensors_.size()),
      residuals_before_(tensors_.size()) {
  check_tensors();
  check_ways();
  agree_on(plan_, tensors_, options.seed, control_);
  make_bundles(options);
  thread_ = std::thread([this] { progress(); });
}

Exchange::Engine::~Engine() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Exchange::Engine::check_tensors() const {
  std::set<std::string_view> names;
  for (const Tensor& tensor : tensors_)
    if (!names.insert(tensor.name).second)
      throw Error(Fault::usage, fmt::format("two tensors are named '{}'", tensor.name));
}

// What cannot be done is refused now, not in the epoch in which it is due.
void Exchange::Engine::check_ways() {
  if (plan_.algorithm != "auto") all_reduce_row(plan_.algorithm);
  for (const Moment& moment : changes_in(plan_))
    for (const Tensor& tensor : tensors_) {
      const Way& way = way_of(plan_, tensor.name, tensor.elements, moment);
      const Codec& codec = codecs_.codec(way.codec, tensor);
      if (way.scaling != Scaling::none) codecs_.scale(codec, way.scaling, {.ranks = net_.size()});
    }
}

void Exchange::Engine::make_bundles(const ExchangeOptions& options) {
  std::vector<std::size_t> elements;
  for (const Tensor& tensor : tensors_) elements.push_back(tensor.elements);
  std::uint32_t number = options.channel;
  for (std::vector<std::size_t>& tensors : fuse(elements, plan_.fusion_bytes)) {
    for (const std::size_t tensor : tensors) bundle_of_[tensor] = bundles_.size();
    bundles_.push_back(std::make_unique<Bundle>(
        common_, std::move(tensors),
        Conversation(net_, ++number, {.team = &team_, .probe = &stopwatch_})));
  }
  missing_.resize(bundles_.size());
}

const Tensor& Exchange::Engine::tensor(std::size_t index) const {
  if (index >= tensors_.size())
    throw Error(Fault::usage,
                fmt::format("there is no tensor {}: {} are exchanged", index, tensors_.size()));
  return tensors_[index];
}

void Exchange::Engine::check_idle() {
  const std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  require(state_ == State::idle, Fault::usage, "a step of the exchange is under way: wait() first");
}

void Exchange::Engine::begin(const Moment& moment) {
  check_idle();
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < items_.size(); ++i) items_[i] = {.residual = &residuals_[i]};
  for (std::size_t i = 0; i < bundles_.size(); ++i) missing_[i] = bundles_[i]->tensors().size();
  report_ = {};
  report_.ready_at.resize(tensors_.size());
  moment_ = moment;
  done_ = false;
  state_ = State::under_way;
  changed_.notify_all();
}

void Exchange::Engine::ready(std::size_t index, MutableFloats values) {
  if (tensor(index).elements != values.size())
    throw Error(Fault::usage, fmt::format("'{}' has {} elements, not {}", tensor(index).name,
                                          tensor(index).elements, values.size()));
  const std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  require(state_ == State::under_way, Fault::usage,
          "a tensor is ready outside of begin() and wait() of the exchange");
  if (items_[index].here)
    throw Error(Fault::usage,
                fmt::format("'{}' is ready for the second time in a step", tensor(index).name));
  items_[index].values = values;
  items_[index].here = true;
  report_.ready_at[index] = Clock::now();
  if (--missing_[bundle_of_[index]] == 0) changed_.notify_all();
}

StepReport Exchange::Engine::wait() {
  {
    std::unique_lock lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    require(state_ == State::under_way, Fault::usage, "wait() of the exchange without begin()");
    state_ = State::awaited;
    changed_.notify_all();
    const Clock::time_point start = Clock::now();
    changed_.wait(lock, [&] { return done_ || error_; });
    if (error_) std::rethrow_exception(error_);
    report_.wait_ms = ms_since(start);
    state_ = State::idle;
  }
  if (!report_.skipped) deliver_rest();
  return report_;
}

void Exchange::Engine::deliver_rest() {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].here || !report_.used[i] || !rest_) continue;
    const MutableFloats place = rest_(i);
    if (place.empty()) continue;
    if (place.size() != tensors_[i].elements)
      throw Error(Fault::usage, fmt::format("'{}' has {} elements, and its rest {}",
                                            tensors_[i].name, tensors_[i].elements, place.size()));
    std::ranges::copy(stand_ins_[i], place.begin());
  }
}

void Exchange::Engine::fail(std::exception_ptr error) noexcept {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  changed_.notify_all();
}

template <class Condition>
bool Exchange::Engine::await(const Condition& condition) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return quit_ || condition(); });
  return !quit_;
}

void Exchange::Engine::progress() noexcept {
  try {
    while (await([&] { return !done_; })) run_step();
  } catch (...) {
    fail(std::current_exception());
  }
}

void Exchange::Engine::run_step() {
  stopwatch_.reset();
  for (std::size_t i = 0; i < bundles_.size(); ++i) {
    if (!await([&] { return missing_[i] == 0 || state_ == State::awaited; })) return;
    const Clock::time_point start = Clock::now();
    carry(i);
    report_.busy_ms += ms_since(start);
  }
  if (!await([&] { return state_ == State::awaited; })) return;
  const Clock::time_point start = Clock::now();
  meet();
  report_.busy_ms += ms_since(start);
  report_.encode_ms = stopwatch_.ms(Work::encode);
  report_.wire_ms = stopwatch_.ms(Work::wire);
  report_.decode_ms = stopwatch_.ms(Work::decode);
  const std::lock_guard lock(mutex_);
  done_ = true;
  changed_.notify_all();
}

void Exchange::Engine::carry(std::size_t bundle) {
  for (const std::size_t tensor : bundles_[bundle]->tensors()) {
    if (plan_.non_finite == NonFinitePolicy::skip_step)
      residuals_before_[tensor] = residuals_[tensor];
    if (items_[tensor].here) continue;
    stand_ins_[tensor].assign(tensors_[tensor].elements, 0);
    items_[tensor].values = stand_ins_[tensor];
  }
  bundles_[bundle]->carry(moment_, items_, report_);
}

// What is only known when every rank has called wait().
void Exchange::Engine::meet() {
  std::vector<std::uint8_t> states(1 + items_.size());
  states[0] = stop_asked_.exchange(false) ? 1 : 0;
  for (std::size_t i = 0; i < items_.size(); ++i)
    states[1 + i] = !items_[i].here ? kUnused : items_[i].finite ? kUsed : kNotFinite;
  all_max(states, control_);
  const std::size_t bytes = all_max_traffic(states.size(), net_.size()).bytes();
  if (bytes != 0) report_.bytes_by_codec[kControlBytes] += bytes;
  report_.stop = states[0] != 0;
  for (std::size_t i = 0; i < items_.size(); ++i) report_.used.push_back(states[1 + i] != kUnused);
  judge(states);
}

void Exchange::Engine::judge(const std::vector<std::uint8_t>& states) {
  if (plan_.non_finite == NonFinitePolicy::propagate) return;
  std::vector<std::string> bad;
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (states[1 + i] >= kNotFinite)
      bad.push_back(fmt::format("'{}'", tensors_[i].name));
    else if (!items_[i].sum_is_finite)
      bad.push_back(fmt::format("the sum of '{}'", tensors_[i].name));
  if (bad.empty()) return;
  if (plan_.non_finite == NonFinitePolicy::fail)
    throw Error(Fault::wire,
                fmt::format("not finite in step {}: {}", moment_.step, fmt::join(bad, ", ")));
  report_.skipped = true;
  residuals_.swap(residuals_before_);
}

void Exchange::Engine::broadcast(MutableFloats values) {
  check_idle();
  const Piece piece{.values = values, .codec = &codecs_.codec("fp32", {})};
  try {
    narrowcast::broadcast({&piece, 1}, 0, {}, control_);
  } catch (...) {
    fail(std::current_exception());
    throw;
  }
}

std::vector<Array> Exchange::Engine::save() {
  check_idle();
  try {
    return save_residuals(tensors_, residuals_, control_);
  } catch (...) {
    fail(std::current_exception());
    throw;
  }
}

void Exchange::Engine::load(const std::vector<Array>& saved) {
  check_idle();
  std::string wrong;
  try {
    wrong = judge_residuals(saved, tensors_, codecs_, control_);
    if (wrong.empty()) residuals_ = load_residuals(saved, tensors_, codecs_, control_);
  } catch (...) {
    fail(std::current_exception());
    throw;
  }
  // All ranks have refused them together, and are where they were.
  if (!wrong.empty()) throw Error(Fault::wire, wrong);
}

}  // namespace narrowcast
