#pragma once

#include <memory>

#include "transport/join.hpp"
#include "transport/modules/gloo_mesh.hpp"

namespace narrowcast::over_gloo {

// Shakes hands with everybody over the connections of the mesh.
std::unique_ptr<Transport> make_transport(const Joining& joining, const Mesh& mesh,
                                          Clock::time_point deadline);

}  // namespace narrowcast::over_gloo
