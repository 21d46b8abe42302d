#pragma once

#include "study/kinds/kind.hpp"

namespace narrowcast {

Kind train_kind();
Kind speed_kind();
Kind predict_kind();
Kind transfer_kind();
Kind round_off_kind();
Kind errors_kind();
Kind paper_kind();

}  // namespace narrowcast
