#pragma once

#include "study/report/section.hpp"

namespace narrowcast {

ReportSection answer_section();
ReportSection about_section();
ReportSection time_to_accuracy_section();
ReportSection curves_section();
ReportSection speed_section();
ReportSection parts_section();
ReportSection heat_map_section();
ReportSection accuracy_section();
ReportSection transfers_section();
ReportSection round_off_section();
ReportSection codec_errors_section();
ReportSection prediction_section();
ReportSection papers_section();
ReportSection scale_section();
ReportSection cost_section();
ReportSection cells_section();
ReportSection origins_section();

}  // namespace narrowcast
