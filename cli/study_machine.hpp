#pragma once

#include "study/cell.hpp"

namespace narrowcast::cli {

// What records say of this machine: nothing that names it or its folders.
CellMachine cell_machine();

}  // namespace narrowcast::cli
