#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "exchange/exchange.hpp"

namespace narrowcast {

enum class Keeps { ranks, sender, owner, passage };

// What an array of residuals is, by its name: see exchange/engine/keeping.hpp.
struct Label {
  Keeps keeps = Keeps::ranks;
  int rank = 0;
  std::size_t begin = 0;
  std::size_t tensor = 0;
};

std::string name_of(const Label& label, const std::vector<Tensor>& tensors);

// Checks type and size too: Fault::wire names an array that is none of these tensors' residuals.
Label label_of(const Array& array, const std::vector<Tensor>& tensors);

// The characters of an array of them.
std::string text_of(const Array& array);

}  // namespace narrowcast
