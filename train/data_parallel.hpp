#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <string>
#include <vector>

#include "exchange/exchange.hpp"

namespace narrowcast {

struct DataParallelOptions {
  // Parameters that the exchange has nothing to do with, by name: those of split layers, which each
  // rank has a part of.
  std::vector<std::string> local = {};
};

// Data-parallel training of any module: gradients leave as soon as back-propagation has made them.
//
//   narrowcast::Exchange exchange(net, plan, narrowcast::tensors_of(*module));
//   narrowcast::DataParallel dp(module, exchange);
//   for (...) {
//     optimizer.zero_grad();
//     loss(module->forward(x), y).backward();
//     dp.wait();           // gradients are now averages over all ranks, with equal bits
//     optimizer.step();
//   }
//
// Parameters and buffers of rank 0 are broadcast at the start. A parameter that got no gradient on
// this rank but did on another gets one; one that no rank used keeps none. Parameters are contiguous
// float32 in main memory; those that need no gradient are left out.
class DataParallel {
 public:
  // Fault::usage when the exchange is for other tensors than the module's. The exchange outlives it.
  DataParallel(std::shared_ptr<torch::nn::Module> module, Exchange& exchange,
               const DataParallelOptions& options = {});
  ~DataParallel();  // from then on back-propagation is as it was before
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  // What the plan's schedules go by, before the backward pass; without it every wait() counts one
  // step more.
  void set_moment(const Moment& moment);

  // Returns when all gradients are averages (or sums, as the plan says). Clipping and the optimiser's
  // step come after it. A second backward pass before it is Fault::usage; see no_sync().
  StepReport wait();

  // While it lives, gradients stay here and add up: for gradient accumulation. The sum leaves in the
  // first backward pass after it.
  class NoSync {
   public:
    explicit NoSync(DataParallel& dp);
    ~NoSync();
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    DataParallel& dp_;
  };
  [[nodiscard]] NoSync no_sync();

  // Makes rank 0's buffers everybody's. While training, each rank keeps running statistics of its own
  // batches: call it before testing or saving, on all ranks, and all have the same bits.
  void broadcast_buffers();

  // Residuals: all ranks call them, rank 0 has the arrays.
  std::vector<Array> save();
  void load(const std::vector<Array>& saved);

 private:
  class Hooks;
  std::shared_ptr<Hooks> hooks_;
};

// The tensors of a module in the order in which back-propagation makes their gradients: the last
// parameter first.
std::vector<Tensor> tensors_of(const torch::nn::Module& module,
                               const DataParallelOptions& options = {});

}  // namespace narrowcast
