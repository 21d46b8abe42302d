#pragma once

#include <vector>

#include "predict/papers.hpp"

namespace narrowcast {

std::vector<PaperFigure> d16_node_figures(Errata errata);
std::vector<PaperFigure> d16_cluster_figures(Errata errata);
std::vector<PaperFigure> a20_steps_figures(Errata errata);

}  // namespace narrowcast
