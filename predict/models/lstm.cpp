#include "predict/models/draft.hpp"
#include "predict/models/tables.hpp"

// Recurrent networks: the rows of the input, one after the other, are a sequence.
namespace narrowcast {

Model lstm_table() {
  return ModelDraft("lstm", {1, 28, 28})
      .lstm("features.lstm", 128, 1)
      .linear("classifier.fc", 10)
      .done();
}

// CNTK, with which the papers trained it, cuts speech into pieces of 20 frames, and counts a batch in frames.
Model lstm_an4_table() {
  return ModelDraft("lstm-an4", {1, 20, 80})
      .lstm("features.lstm", 1024, 2)
      .linear("classifier.fc", 132)
      .done();
}

}  // namespace narrowcast
