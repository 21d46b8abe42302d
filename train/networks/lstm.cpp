#include "train/networks/builders.hpp"
#include "train/networks/layers.hpp"

// Recurrent networks: the rows of an image, one after the other, are a sequence.
namespace narrowcast {
namespace {

class RowReader : public Layer {
 public:
  RowReader(const ImageShape& input, std::int64_t cells, std::int64_t layers)
      : lstm_(
            register_module("lstm", torch::nn::LSTM(torch::nn::LSTMOptions(row_values(input), cells)
                                                        .num_layers(layers)
                                                        .batch_first(true)))) {}
  // What the last layer says after the last row: batch x cells.
  torch::Tensor forward(const torch::Tensor& input) override {
    const auto rows = input.transpose(1, 2).flatten(2);
    return std::get<0>(lstm_->forward(rows)).select(1, -1);
  }

 private:
  static std::int64_t row_values(const ImageShape& input) {
    return std::int64_t{input.channels} * input.width;
  }

  torch::nn::LSTM lstm_;
};

}  // namespace

std::shared_ptr<Network> lstm(const Workshop& workshop) {
  constexpr std::int64_t kCells = 128;
  return std::make_shared<Network>(std::make_shared<RowReader>(workshop.input, kCells, 1),
                                   one_linear(workshop, kCells));
}

// The size of QSGD's network for the speech of AN4, 13 million parameters: its paper does not give the
// layers, and two of 1024 cells come to 13.06 million with frames of 80 values and 132 classes. Frames
// are the rows of the input.
std::shared_ptr<Network> lstm_an4(const Workshop& workshop) {
  constexpr std::int64_t kCells = 1024;
  return std::make_shared<Network>(std::make_shared<RowReader>(workshop.input, kCells, 2),
                                   one_linear(workshop, kCells));
}

}  // namespace narrowcast
