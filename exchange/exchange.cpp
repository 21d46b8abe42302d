#include "exchange/exchange.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "exchange/engine/engine.hpp"

namespace narrowcast {

double StepReport::overlap() const {
  return busy_ms > 0 ? std::clamp(1 - wait_ms / busy_ms, 0.0, 1.0) : 0;
}

std::uint64_t StepReport::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& [codec, bytes] : bytes_by_codec) sum += bytes;
  return sum;
}

Exchange::Exchange(Transport& net, const Plan& plan, std::vector<Tensor> tensors,
                   const ExchangeOptions& options)
    : engine_(std::make_unique<Engine>(net, plan, std::move(tensors), options)) {}

Exchange::~Exchange() = default;

int Exchange::rank() const { return engine_->net().rank(); }
int Exchange::size() const { return engine_->net().size(); }
const std::vector<Tensor>& Exchange::tensors() const { return engine_->tensors(); }
const Plan& Exchange::plan() const { return engine_->plan(); }

void Exchange::begin(const Moment& moment) { engine_->begin(moment); }
void Exchange::ready(std::size_t tensor, MutableFloats values) { engine_->ready(tensor, values); }
StepReport Exchange::wait() { return engine_->wait(); }

void Exchange::set_rest(std::function<MutableFloats(std::size_t tensor)> rest) {
  engine_->set_rest(std::move(rest));
}

void Exchange::ask_to_stop() { engine_->ask_to_stop(); }

void Exchange::broadcast(std::size_t tensor, MutableFloats values) {
  require(engine_->tensor(tensor).elements == values.size(), Fault::usage,
          "what is to be broadcast has another size than its tensor");
  engine_->broadcast(values);
}

void Exchange::broadcast(MutableFloats values) { engine_->broadcast(values); }

std::vector<Array> Exchange::save() { return engine_->save(); }
void Exchange::load(const std::vector<Array>& saved) { engine_->load(saved); }

}  // namespace narrowcast
