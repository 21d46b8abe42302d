#include "train/split_linear.hpp"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>

#include "base/error.hpp"

namespace narrowcast {
namespace {

// What the functions below need to know of their layer.
struct Seat final : torch::CustomClassHolder {
  Seat(const SplitLinearOptions& how, ActivationLink& line)
      : options(how), link(line), share(share_of(whole(), line.rank(), line.size())) {}

  std::int64_t whole() const {
    return options.split == Split::output ? options.outputs : options.inputs;
  }
  Cargo cargo(const torch::Tensor& matrix) const {
    return {.layer = options.layer, .rows = static_cast<std::size_t>(matrix.size(0))};
  }

  SplitLinearOptions options;
  ActivationLink& link;
  Share share;
};
using SeatPointer = c10::intrusive_ptr<Seat>;

MutableFloats floats(const torch::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

// The columns of a matrix, those of one rank after those of the other: what travels is in one piece.
class Columns {
 public:
  Columns(const Seat& seat, std::int64_t rows)
      : seat_(seat), rows_(rows), memory_(torch::empty({rows * seat.whole()})) {
    for (int rank = 0; rank < seat.link.size(); ++rank) parts_.push_back(floats(part(rank)));
  }

  torch::Tensor own() const { return part(seat_.link.rank()); }
  const ActivationLink::Parts& parts() const { return parts_; }

  torch::Tensor matrix() const {
    if (seat_.link.size() == 1) return own();
    torch::Tensor whole = torch::empty({rows_, seat_.whole()});
    for (int rank = 0; rank < seat_.link.size(); ++rank) {
      const Share share = share_of(seat_.whole(), rank, seat_.link.size());
      whole.narrow(1, share.first, share.count).copy_(part(rank));
    }
    return whole;
  }

 private:
  torch::Tensor part(int rank) const {
    const Share share = share_of(seat_.whole(), rank, seat_.link.size());
    return memory_.narrow(0, share.first * rows_, share.count * rows_).view({rows_, share.count});
  }

  const Seat& seat_;
  std::int64_t rows_;
  torch::Tensor memory_;
  ActivationLink::Parts parts_;
};

torch::Tensor own_columns(const Seat& seat, const torch::Tensor& matrix) {
  return matrix.narrow(1, seat.share.first, seat.share.count).contiguous();
}

const Seat& seat_of(torch::autograd::AutogradContext* context) {
  // The context keeps it alive.
  return static_cast<const Seat&>(*context->saved_data.at("seat").toCapsule());
}

void remember(torch::autograd::AutogradContext* context, const SeatPointer& seat,
              torch::autograd::variable_list tensors, bool input_gradient) {
  context->saved_data["seat"] = c10::IValue::make_capsule(seat);
  context->saved_data["input_gradient"] = input_gradient;
  context->save_for_backward(std::move(tensors));
}

// Every rank computes some columns of the output, and they are gathered. What a rank knows of the
// input's gradient comes from its own columns: a part of the sum.
class OutputSplit : public torch::autograd::Function<OutputSplit> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& input, const torch::Tensor& weight,
                               const torch::Tensor& bias, const SeatPointer& seat) {
    Columns columns(*seat, input.size(0));
    torch::Tensor own = columns.own();
    at::addmm_out(own, bias, input, weight.t());
    seat->link.gather_forward(columns.parts(), seat->cargo(input));
    remember(context, seat, {input, weight}, input.requires_grad());
    return columns.matrix();
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const Seat& seat = seat_of(context);
    const auto saved = context->get_saved_variables();
    const torch::Tensor own = own_columns(seat, gradients[0]);
    torch::Tensor input;
    if (context->saved_data.at("input_gradient").toBool()) input = own.mm(saved[1]);
    const bool sums = input.defined() && seat.options.input_gradient == InputGradient::summed;
    // The sum travels while the weights' gradient is computed.
    std::optional<ActivationLink::Underway> sum;
    if (sums) sum.emplace(seat.link.start_sum_backward(floats(input), seat.cargo(input)));
    torch::Tensor weight = own.t().mm(saved[0]);
    torch::Tensor bias = own.sum(0);
    if (sum) sum->wait();
    return {input, weight, bias, {}};
  }
};

// Every rank multiplies some columns of the input, and the products are summed. Of the input's
// gradient a rank knows those columns, and they are gathered.
class InputSplit : public torch::autograd::Function<InputSplit> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& input, const torch::Tensor& weight,
                               const torch::Tensor& bias, const SeatPointer& seat) {
    const torch::Tensor own = own_columns(*seat, input);
    torch::Tensor output = own.mm(weight.t());
    seat->link.sum_forward(floats(output), seat->cargo(output));
    output.add_(bias);
    remember(context, seat, {own, weight}, input.requires_grad());
    return output;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const Seat& seat = seat_of(context);
    const auto saved = context->get_saved_variables();
    const torch::Tensor output = gradients[0].contiguous();
    const bool wanted = context->saved_data.at("input_gradient").toBool();
    const bool partial = seat.options.input_gradient == InputGradient::partial;
    Columns columns(seat, output.size(0));
    torch::Tensor own = columns.own();
    std::optional<ActivationLink::Underway> gather;
    if (wanted) {
      at::mm_out(own, output, saved[1]);
      if (!partial)
        gather.emplace(seat.link.start_gather_backward(columns.parts(), seat.cargo(output)));
    }
    torch::Tensor weight = output.t().mm(saved[0]);
    torch::Tensor bias = output.sum(0);
    if (gather) gather->wait();
    return {wanted ? (partial ? widened(seat, own) : columns.matrix()) : torch::Tensor(),
            weight,
            bias,
            {}};
  }

 private:
  static torch::Tensor widened(const Seat& seat, const torch::Tensor& own) {
    torch::Tensor whole = torch::zeros({own.size(0), seat.whole()});
    whole.narrow(1, seat.share.first, seat.share.count).copy_(own);
    return whole;
  }
};

}  // namespace

Share share_of(std::int64_t whole, int rank, int ranks) {
  const std::int64_t each = whole / ranks;
  const std::int64_t more = whole % ranks;
  return {rank * each + std::min<std::int64_t>(rank, more), each + (rank < more ? 1 : 0)};
}

SplitLinearImpl::SplitLinearImpl(const SplitLinearOptions& options, ActivationLink& link)
    : options_(options), link_(&link), share_(Seat(options, link).share) {
  const bool rows = options.split == Split::output;
  const torch::nn::Linear whole(options.inputs, options.outputs);
  weight = register_parameter("weight", rows ? torch::empty({share_.count, options.inputs})
                                             : torch::empty({options.outputs, share_.count}));
  bias = register_parameter("bias", torch::empty({rows ? share_.count : options.outputs}));
  take_parts_of(whole->weight, whole->bias);
}

void SplitLinearImpl::take_parts_of(const torch::Tensor& whole_weight,
                                    const torch::Tensor& whole_bias) {
  const torch::NoGradGuard no_grad;
  const std::int64_t dimension = options_.split == Split::output ? 0 : 1;
  weight.copy_(whole_weight.narrow(dimension, share_.first, share_.count));
  bias.copy_(dimension == 0 ? whole_bias.narrow(0, share_.first, share_.count) : whole_bias);
}

torch::Tensor SplitLinearImpl::forward(const torch::Tensor& input) {
  if (input.size(-1) != options_.inputs)
    throw Error(Fault::usage,
                fmt::format("a layer of {} inputs was given {}", options_.inputs, input.size(-1)));
  const torch::Tensor matrix = input.reshape({-1, options_.inputs}).contiguous();
  const auto seat = c10::make_intrusive<Seat>(options_, *link_);
  const torch::Tensor output = options_.split == Split::output
                                   ? OutputSplit::apply(matrix, weight, bias, seat)
                                   : InputSplit::apply(matrix, weight, bias, seat);
  std::vector<std::int64_t> shape = input.sizes().vec();
  shape.back() = options_.outputs;
  return output.view(shape);
}

}  // namespace narrowcast
