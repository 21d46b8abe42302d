#pragma once

#include "study/report/section.hpp"

namespace narrowcast {

// A row for each setting of the answer: whether low precision pays there, and by which codec.
Figure answer_table(const ReportData& data, Source source);

}  // namespace narrowcast
