#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The performance models that the papers print, as they print them and mended.
namespace narrowcast {

enum class Errata { as_printed, corrected };

// One figure of a paper. Quantity, setting, bits and batch name it: the two modes of a model pair their
// figures by them, and either may have figures that the other lacks.
struct PaperFigure {
  std::string_view quantity;  // "speedup", "S ms", "total ms", "steps" ...
  std::string setting = {};   // "T=104.1 ms", "p=256, k=16" ...
  int bits = 32;
  int batch = 0;                  // 0: it has none
  std::optional<double> printed;  // none: the paper does not print this one
  double computed = 0;
};

struct PaperModel {
  std::string_view name;  // d16-node ...
  std::string_view summary;
  std::string_view formula;  // what is computed, in a few lines
  std::string_view errata;   // what Errata::corrected mends and what it leaves, in a few lines
  std::vector<PaperFigure> (*figures)(Errata errata);
};
std::span<const PaperModel> paper_models();
const PaperModel& paper_model(std::string_view name);  // Fault::usage lists the names

}  // namespace narrowcast
