#include "study/epoch.hpp"

#include <fmt/core.h>

#include <iterator>
#include <limits>

#include "base/error.hpp"

namespace narrowcast {
namespace {

// All but the error, which an epoch need not have.
struct Column {
  std::string_view name;
  double EpochPoint::*number;
};
constexpr Column kColumns[] = {{"epoch", &EpochPoint::epoch},
                               {"train_loss", &EpochPoint::train_loss},
                               {"images_per_s", &EpochPoint::images_per_s},
                               {"step_ms", &EpochPoint::step_ms},
                               {"compute_ms", &EpochPoint::compute_ms},
                               {"wait_ms", &EpochPoint::wait_ms},
                               {"overlap", &EpochPoint::overlap},
                               {"wire_bytes", &EpochPoint::wire_bytes},
                               {"fp32_bytes", &EpochPoint::fp32_bytes}};
constexpr std::string_view kError = "test_error";

double number_of(const JsonTree& value, std::string_view name) {
  if (value.kind == JsonKind::null) return std::numeric_limits<double>::quiet_NaN();
  if (value.kind != JsonKind::whole && value.kind != JsonKind::real)
    throw Error(Fault::wire, fmt::format("\"{}\" is no number", name));
  return value.number;
}

}  // namespace

EpochPoint epoch_of_json(const JsonTree& object) {
  EpochPoint point;
  for (const Column& column : kColumns) {
    const JsonTree* found = object.find(column.name);
    if (found == nullptr)
      throw Error(Fault::wire, fmt::format("an epoch has no \"{}\"", column.name));
    point.*column.number = number_of(*found, column.name);
  }
  // Charts and logarithms count from the first one.
  if (!(point.epoch >= 1)) throw Error(Fault::wire, "an epoch has a number below 1");
  const JsonTree* error = object.find(kError);
  if (error != nullptr && error->kind != JsonKind::null)
    point.test_error = number_of(*error, kError);
  return point;
}

JsonValue json_of_epoch(const EpochPoint& point) {
  std::vector<JsonMember> members;
  for (const Column& column : kColumns) members.push_back({column.name, point.*column.number});
  members.push_back({kError, point.test_error ? JsonValue(*point.test_error) : JsonValue(nullptr)});
  return json_object(members);
}

void add_epoch(std::vector<EpochPoint>& epochs, const EpochPoint& point) {
  std::erase_if(epochs, [&](const EpochPoint& old) { return old.epoch >= point.epoch; });
  epochs.push_back(point);
}

}  // namespace narrowcast
