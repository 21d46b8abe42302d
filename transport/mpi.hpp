#pragma once

#include "transport/environment.hpp"
#include "transport/module.hpp"

namespace narrowcast {

// The MPI that goes with the launcher, and how many ranks that launcher has started.
struct MpiChoice {
  Module module;
  int ranks = 0;
};

// By the variables that mpirun and srun set; Fault::usage where there are none.
MpiChoice choose_mpi(const Variables& variables);

}  // namespace narrowcast
