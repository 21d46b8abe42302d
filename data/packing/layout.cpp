#include "data/packing/layout.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "base/json.hpp"

namespace narrowcast::packing {
namespace {

// Far beyond every image, and far below what would overflow anything.
constexpr std::int64_t kMostSide = 1 << 15;
constexpr std::int64_t kMostImages = std::int64_t{1} << 32;

JsonValue hex(std::uint64_t value) { return fmt::format("{:016x}", value); }

JsonValue section_json(const Section& section) {
  return json_object({{"images", section.images},
                      {"labels_xxh3", hex(section.labels_checksum)},
                      {"pixels_xxh3", hex(section.pixels_checksum)}});
}

JsonValue floats_json(const std::vector<float>& values) {
  std::vector<JsonValue> items;
  for (const float value : values) items.emplace_back(static_cast<double>(value));
  return json_array(items);
}

const JsonTree& member(const JsonTree& tree, std::string_view key, JsonKind kind) {
  const JsonTree* found = tree.find(key);
  if (found == nullptr || found->kind != kind)
    throw Error(Fault::wire, fmt::format("its description has no good '{}'", key));
  return *found;
}

std::int64_t whole(const JsonTree& tree, std::string_view key, std::int64_t most) {
  const std::int64_t value = member(tree, key, JsonKind::whole).whole;
  if (value < 1 || value > most)
    throw Error(Fault::wire, fmt::format("its description has {} as '{}'", value, key));
  return value;
}

std::uint64_t parse_hex(const JsonTree& tree, std::string_view key) {
  const std::string& digits = member(tree, key, JsonKind::text).text;
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits != fmt::format("{:016x}", value))
    throw Error(Fault::wire, fmt::format("its description has no good '{}'", key));
  return value;
}

Section parse_section(const JsonTree& tree, std::string_view key) {
  const JsonTree& section = member(tree, key, JsonKind::object);
  return {.images = static_cast<std::uint64_t>(whole(section, "images", kMostImages)),
          .labels_checksum = parse_hex(section, "labels_xxh3"),
          .pixels_checksum = parse_hex(section, "pixels_xxh3")};
}

std::vector<float> parse_floats(const JsonTree& tree, std::string_view key, int count) {
  const JsonTree& items = member(tree, key, JsonKind::array);
  std::vector<float> values;
  for (const JsonTree& item : items.items) {
    const bool number = item.kind == JsonKind::real || item.kind == JsonKind::whole;
    require(number, Fault::wire, "its mean or deviation is no number");
    values.push_back(static_cast<float>(item.number));
  }
  require(values.size() == static_cast<std::size_t>(count), Fault::wire,
          "it has means or deviations for another number of channels");
  return values;
}

std::vector<std::string> parse_classes(const JsonTree& tree) {
  std::vector<std::string> names;
  for (const JsonTree& item : member(tree, "classes", JsonKind::array).items) {
    require(item.kind == JsonKind::text, Fault::wire, "it has a class without a name");
    names.push_back(item.text);
  }
  require(!names.empty(), Fault::wire, "it has no classes");
  return names;
}

}  // namespace

std::uint64_t checksum_of(const Head& head) {
  return checksum(std::as_bytes(std::span(&head, 1)).first(offsetof(Head, checksum)));
}

std::string description_text(const Description& description) {
  const std::vector<JsonValue> classes(description.classes.begin(), description.classes.end());
  return json_line({{"channels", description.shape.channels},
                    {"height", description.shape.height},
                    {"width", description.shape.width},
                    {"classes", json_array(classes)},
                    {"mean", floats_json(description.normal.mean)},
                    {"deviation", floats_json(description.normal.deviation)},
                    {"train", section_json(description.train)},
                    {"test", section_json(description.test)}});
}

Description parse_description(std::string_view text) {
  const JsonTree tree = parse_json(text);
  Description description;
  description.shape = {.channels = static_cast<int>(whole(tree, "channels", 4)),
                       .height = static_cast<int>(whole(tree, "height", kMostSide)),
                       .width = static_cast<int>(whole(tree, "width", kMostSide))};
  description.classes = parse_classes(tree);
  description.normal = {.mean = parse_floats(tree, "mean", description.shape.channels),
                        .deviation = parse_floats(tree, "deviation", description.shape.channels)};
  for (const float deviation : description.normal.deviation)
    require(std::isfinite(deviation) && deviation > 0, Fault::wire,
            "it has a deviation of nothing");
  description.train = parse_section(tree, "train");
  description.test = parse_section(tree, "test");
  return description;
}

std::uint64_t pixels_offset(std::uint64_t images) {
  const std::uint64_t labels_end = sizeof(Head) + images * sizeof(Label);
  return (labels_end + kAlignment - 1) / kAlignment * kAlignment;
}

std::uint64_t pixels_end(const Description& description) {
  const std::uint64_t images = description.train.images + description.test.images;
  std::uint64_t bytes = 0;
  require(!__builtin_mul_overflow(images, std::uint64_t{description.shape.values()}, &bytes) &&
              !__builtin_add_overflow(bytes, pixels_offset(images), &bytes),
          Fault::wire, "it describes more images than any file can hold");
  return bytes;
}

}  // namespace narrowcast::packing
