#include "train/data_parallel.hpp"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "base/error.hpp"

namespace narrowcast {
namespace {

using Named = std::pair<std::string, torch::Tensor>;

bool is_local(const DataParallelOptions& options, const std::string& name) {
  return std::ranges::find(options.local, name) != options.local.end();
}

// A tensor that goes by several names (tied weights) is there once, by the first.
std::vector<Named> shared_parameters(const torch::nn::Module& module,
                                     const DataParallelOptions& options) {
  const auto all = module.named_parameters();
  for (const std::string& name : options.local)
    if (!all.contains(name))
      throw Error(Fault::usage, fmt::format("the module has no parameter '{}'", name));
  std::vector<Named> list;
  std::unordered_set<const void*> seen;
  for (const auto& item : all)
    if (seen.insert(item.value().unsafeGetTensorImpl()).second && !is_local(options, item.key()))
      list.emplace_back(item.key(), item.value());
  return list;
}

bool travels(const torch::Tensor& tensor) {
  return tensor.layout() == torch::kStrided && tensor.device().is_cpu() &&
         tensor.scalar_type() == torch::kFloat32 && tensor.is_contiguous();
}

void check(const torch::Tensor& tensor, std::string_view what, const std::string& name) {
  if (!travels(tensor))
    throw Error(Fault::usage, fmt::format("the {} '{}' is not contiguous float32 in main memory: "
                                          "nothing else can be exchanged",
                                          what, name));
}

MutableFloats floats(const torch::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

// How often the bookkeeping of a view points to what it is a view of.
std::size_t references(const torch::Tensor& view, const torch::Tensor& base) {
  const auto* meta = torch::autograd::impl::get_view_autograd_meta(view);
  if (meta == nullptr) return 0;
  const bool backward = meta->has_bw_view() && meta->get_backward_view().base_.is_same(base);
  const bool forward = meta->has_fw_view() && !meta->shared_view_info() &&
                       meta->get_forward_view().base_.is_same(base);
  return std::size_t{backward} + std::size_t{forward};
}

// Back-propagation may make what came in the parameter's gradient without copying it, even when
// another part of the graph has yet to read the same memory through another view: only what nobody
// else holds may be written to. A count that is not understood means that somebody does.
bool is_held_by_others(const torch::Tensor& gradient, const torch::Tensor& incoming) {
  if (!incoming.defined() || !incoming.is_alias_of(gradient)) return false;
  const auto* meta = torch::autograd::impl::get_view_autograd_meta(incoming);
  if (meta == nullptr || !meta->has_bw_view()) return gradient.storage().use_count() > 2;
  const torch::Tensor& base = meta->get_backward_view().base_;
  return gradient.storage().use_count() > 3 ||
         base.use_count() > references(incoming, base) + references(gradient, base);
}

// Of any type and layout: as floats that nobody computes with.
void broadcast(Exchange& exchange, torch::Tensor tensor) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor dense = tensor.detach().cpu().contiguous();
  std::vector<float> carrier((dense.nbytes() + sizeof(float) - 1) / sizeof(float));
  const MutableBytes bytes(static_cast<std::byte*>(dense.data_ptr()), dense.nbytes());
  const MutableBytes carried = std::as_writable_bytes(std::span(carrier)).first(bytes.size());
  copy(bytes, carried);
  exchange.broadcast(carrier);
  copy(carried, bytes);
  if (!dense.is_same(tensor)) tensor.detach().copy_(dense);
}

}  // namespace

// What the nodes of the graph call. They may outlive the DataParallel, and then find it gone.
class DataParallel::Hooks : public std::enable_shared_from_this<Hooks> {
 public:
  Hooks(std::shared_ptr<torch::nn::Module> module, Exchange& exchange,
        const DataParallelOptions& options)
      : module_(std::move(module)),
        exchange_(exchange),
        leaving_(std::make_shared<std::vector<torch::Tensor>>(exchange.tensors().size())),
        watched_(exchange.tensors().size()) {
    std::vector<Named> parameters = shared_parameters(*module_, options);
    for (const Named& parameter : parameters) broadcast(exchange_, parameter.second);
    std::erase_if(parameters, [](const Named& each) { return !each.second.requires_grad(); });
    for (const Named& parameter : parameters) watch(parameter);
    for (std::size_t i = 0; i < watched_.size(); ++i)
      if (!watched_[i].parameter.defined())
        throw Error(Fault::usage, fmt::format("the exchange has a tensor '{}' that is no parameter "
                                              "of the module",
                                              exchange_.tensors()[i].name));
    broadcast_buffers();
  }

  void attach();

  void set_moment(const Moment& moment) { moment_ = moment; }

  StepReport wait() {
    require(no_sync_ == 0, Fault::usage, "wait() while no_sync() keeps the gradients here");
    {
      const std::lock_guard lock(mutex_);
      // What only passes under no_sync() have made has not left yet.
      for (std::size_t i = 0; i < watched_.size(); ++i)
        if (watched_[i].accumulated && !leaving(i).defined()) leave(i, {});
      begin();
    }
    StepReport report = exchange_.wait();
    for (Watched& each : watched_) each.accumulated = false;
    for (torch::Tensor& gradient : *leaving_) gradient.reset();
    memory_.clear();
    begun_ = false;
    ++moment_.step;
    return report;
  }

  void broadcast_buffers() {
    for (const torch::Tensor& buffer : module_->buffers()) broadcast(exchange_, buffer);
  }

  void enter_no_sync() { ++no_sync_; }
  void leave_no_sync() { --no_sync_; }
  Exchange& exchange() { return exchange_; }

 private:
  class Before;
  class After;
  // Its type changed between versions of libtorch.
  using Node = decltype(torch::autograd::impl::grad_accumulator(std::declval<torch::Tensor&>()));

  struct Watched {
    torch::Tensor parameter;
    Node node = {};            // a parameter keeps only a weak pointer to it
    bool accumulated = false;  // something, since the last wait()
  };

  const std::string& name(std::size_t i) const { return exchange_.tensors()[i].name; }
  torch::Tensor& leaving(std::size_t i) { return (*leaving_)[i]; }

  void watch(const Named& parameter) {
    const auto& [name, tensor] = parameter;
    check(tensor, "parameter", name);
    const auto found = std::ranges::find(exchange_.tensors(), name, &Tensor::name);
    if (found == exchange_.tensors().end())
      throw Error(Fault::usage,
                  fmt::format("the exchange has no tensor for the parameter '{}'", name));
    if (found->elements != static_cast<std::size_t>(tensor.numel()))
      throw Error(Fault::usage, fmt::format("the exchange has '{}' with {} elements, the module "
                                            "with {}",
                                            name, found->elements, tensor.numel()));
    watched_[found - exchange_.tensors().begin()] = {.parameter = tensor};
  }

  // Of back-propagation: a gradient is about to be added to what is there.
  void before(std::size_t i) {
    const std::lock_guard lock(mutex_);
    if (leaving(i).defined())
      throw Error(Fault::usage, fmt::format("a second backward pass before wait(): the gradient of "
                                            "'{}' is under way already; to add up several passes, "
                                            "run all but the last under no_sync()",
                                            name(i)));
  }

  // It has been.
  void after(std::size_t i, const torch::Tensor& incoming) {
    const std::lock_guard lock(mutex_);
    watched_[i].accumulated = true;
    if (no_sync_ == 0) leave(i, incoming);
  }

  void begin() {
    if (!begun_) exchange_.begin(moment_);
    begun_ = true;
  }

  void leave(std::size_t i, const torch::Tensor& incoming) {
    torch::Tensor& gradient = watched_[i].parameter.mutable_grad();
    if (!gradient.defined()) return;
    check(gradient, "gradient of", name(i));
    if (is_leaving(gradient) || is_held_by_others(gradient, incoming)) gradient = gradient.clone();
    leaving(i) = gradient;
    memory_.insert(memory(gradient));
    begin();
    exchange_.ready(i, floats(gradient));
  }

  static const void* memory(const torch::Tensor& tensor) {
    return tensor.storage().unsafeGetStorageImpl();
  }
  // Two parameters may have the same memory for their gradients.
  bool is_leaving(const torch::Tensor& gradient) const {
    return memory_.contains(memory(gradient));
  }

  // Another rank has a gradient where this one has none.
  MutableFloats rest(std::size_t i) {
    torch::Tensor& gradient = watched_[i].parameter.mutable_grad();
    if (!gradient.defined() || !travels(gradient) || is_leaving(gradient))
      gradient = torch::empty_like(watched_[i].parameter);
    return floats(gradient);
  }

  std::shared_ptr<torch::nn::Module> module_;
  Exchange& exchange_;
  std::mutex mutex_;
  Moment moment_ = {};
  bool begun_ = false;
  int no_sync_ = 0;
  // Gradients under way, by tensor; shared with the exchange, which works on them.
  std::shared_ptr<std::vector<torch::Tensor>> leaving_;
  std::unordered_set<const void*> memory_;  // of those
  std::vector<Watched> watched_;            // by tensor
};

class DataParallel::Hooks::Before final : public torch::autograd::FunctionPreHook {
 public:
  Before(std::weak_ptr<Hooks> hooks, std::size_t tensor)
      : hooks_(std::move(hooks)), tensor_(tensor) {}
  torch::autograd::variable_list operator()(
      const torch::autograd::variable_list& gradients) override {
    if (const auto hooks = hooks_.lock()) hooks->before(tensor_);
    return gradients;
  }

 private:
  std::weak_ptr<Hooks> hooks_;
  std::size_t tensor_;
};

class DataParallel::Hooks::After final : public torch::autograd::FunctionPostHook {
 public:
  After(std::weak_ptr<Hooks> hooks, std::size_t tensor)
      : hooks_(std::move(hooks)), tensor_(tensor) {}
  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list& inputs) override {
    if (const auto hooks = hooks_.lock()) hooks->after(tensor_, inputs.at(0));
    return outputs;
  }

 private:
  std::weak_ptr<Hooks> hooks_;
  std::size_t tensor_;
};

void DataParallel::Hooks::attach() {
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    watched_[i].node = torch::autograd::impl::grad_accumulator(watched_[i].parameter);
    watched_[i].node->add_pre_hook(std::make_unique<Before>(weak_from_this(), i));
    watched_[i].node->add_post_hook(std::make_unique<After>(weak_from_this(), i));
  }
  exchange_.set_rest([hooks = weak_from_this(), leaving = leaving_](std::size_t tensor) {
    const auto alive = hooks.lock();
    return alive ? alive->rest(tensor) : MutableFloats();
  });
}

DataParallel::DataParallel(std::shared_ptr<torch::nn::Module> module, Exchange& exchange,
                           const DataParallelOptions& options)
    : hooks_(std::make_shared<Hooks>(std::move(module), exchange, options)) {
  hooks_->attach();
}

DataParallel::~DataParallel() = default;

void DataParallel::set_moment(const Moment& moment) { hooks_->set_moment(moment); }
StepReport DataParallel::wait() { return hooks_->wait(); }
DataParallel::NoSync DataParallel::no_sync() { return NoSync(*this); }
void DataParallel::broadcast_buffers() { hooks_->broadcast_buffers(); }
std::vector<Array> DataParallel::save() { return hooks_->exchange().save(); }
void DataParallel::load(const std::vector<Array>& saved) { hooks_->exchange().load(saved); }

DataParallel::NoSync::NoSync(DataParallel& dp) : dp_(dp) { dp_.hooks_->enter_no_sync(); }
DataParallel::NoSync::~NoSync() { dp_.hooks_->leave_no_sync(); }

std::vector<Tensor> tensors_of(const torch::nn::Module& module,
                               const DataParallelOptions& options) {
  std::vector<Tensor> tensors;
  for (const auto& [name, parameter] : shared_parameters(module, options)) {
    if (!parameter.requires_grad()) continue;
    Tensor tensor = {.name = name, .elements = static_cast<std::size_t>(parameter.numel())};
    if (parameter.dim() > 0) tensor.innermost = static_cast<std::size_t>(parameter.size(-1));
    tensors.push_back(std::move(tensor));
  }
  std::ranges::reverse(tensors);
  return tensors;
}

}  // namespace narrowcast
