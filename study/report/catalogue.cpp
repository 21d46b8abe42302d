#include "study/report/rows.hpp"

namespace narrowcast {

std::span<const ReportSection> report_sections() {
  static const ReportSection kRows[] = {
      answer_section(),    about_section(),        time_to_accuracy_section(),
      curves_section(),    speed_section(),        parts_section(),
      heat_map_section(),  accuracy_section(),     transfers_section(),
      round_off_section(), codec_errors_section(), prediction_section(),
      papers_section(),    scale_section(),        cost_section(),
      cells_section(),     origins_section()};
  return kRows;
}

}  // namespace narrowcast
