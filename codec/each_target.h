// What a file with vector kernels includes first, after defining HWY_TARGET_INCLUDE as its own name: it
// is then compiled once for every target of this build (see Highway's foreach_target.h).
#pragma once

#include "codec/kernel/targets.h"
// After targets.h.
#include <hwy/foreach_target.h>
