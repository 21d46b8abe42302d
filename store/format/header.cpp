#include "store/format/header.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "base/json.hpp"

namespace narrowcast::format {
namespace {

constexpr std::uint64_t kAlignment = 8;

struct DtypeRow {
  Dtype dtype;
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::array kDtypes = {
    DtypeRow{Dtype::f32, "F32", 4},
    DtypeRow{Dtype::i64, "I64", 8},
    DtypeRow{Dtype::u8, "U8", 1},
};

const DtypeRow& row_of(Dtype dtype) {
  return *std::find_if(kDtypes.begin(), kDtypes.end(),
                       [&](const DtypeRow& row) { return row.dtype == dtype; });
}

[[noreturn]] void refuse(std::string_view name, std::string_view why) {
  // As JSON, so that a name with line ends still makes one line.
  throw Error(Fault::wire, fmt::format("array {} {}", JsonValue(name).text(), why));
}

JsonValue shape_json(const Array& array) {
  return json_array(std::vector<JsonValue>(array.shape.begin(), array.shape.end()));
}

JsonValue metadata_json(const std::map<std::string, std::string>& about) {
  std::vector<JsonMember> members;
  for (const auto& [key, value] : about) members.push_back({key, value});
  return json_object(members);
}

std::vector<const Array*> by_name(const std::vector<Array>& arrays) {
  std::vector<const Array*> sorted;
  for (const Array& array : arrays) sorted.push_back(&array);
  std::sort(sorted.begin(), sorted.end(),
            [](const Array* a, const Array* b) { return a->name < b->name; });
  return sorted;
}

std::string description(const Snapshot& snapshot, const std::vector<const Array*>& arrays) {
  std::vector<JsonMember> members;
  for (const Array* array : arrays)
    members.push_back({array->name, json_object({{"dtype", row_of(array->dtype).name},
                                                 {"shape", shape_json(*array)}})});
  return json_object(
             {{"metadata", metadata_json(snapshot.about)}, {"arrays", json_object(members)}})
      .text();
}

const JsonTree& member(const JsonTree& entry, std::string_view name, std::string_view key) {
  const JsonTree* found = entry.find(key);
  if (found == nullptr) refuse(name, fmt::format("has no {}", key));
  return *found;
}

std::uint64_t natural(const JsonTree& value, std::string_view name) {
  if (value.kind != JsonKind::whole || value.whole < 0)
    refuse(name, "has a shape or an offset that is no number");
  return static_cast<std::uint64_t>(value.whole);
}

Dtype parse_dtype(const JsonTree& value, std::string_view name) {
  for (const DtypeRow& row : kDtypes)
    if (value.kind == JsonKind::text && value.text == row.name) return row.dtype;
  refuse(name, fmt::format("is of type '{}'; F32, I64 and U8 can be read", value.text));
}

std::vector<std::int64_t> parse_shape(const JsonTree& value, std::string_view name) {
  if (value.kind != JsonKind::array) refuse(name, "has no shape");
  std::vector<std::int64_t> shape;
  for (const JsonTree& item : value.items)
    shape.push_back(static_cast<std::int64_t>(natural(item, name)));
  return shape;
}

Place parse_place(const JsonTree& value, std::string_view name) {
  if (value.kind != JsonKind::array || value.items.size() != 2) refuse(name, "has no offsets");
  const Place place = {natural(value.items[0], name), natural(value.items[1], name)};
  if (place.begin > place.end) refuse(name, "ends before it begins");
  return place;
}

std::map<std::string, std::string> parse_metadata(const JsonTree& tree) {
  require(tree.kind == JsonKind::object, Fault::wire, "the metadata is no object");
  std::map<std::string, std::string> about;
  for (std::size_t i = 0; i < tree.keys.size(); ++i) {
    require(tree.items[i].kind == JsonKind::text, Fault::wire,
            "the metadata holds something that is no text");
    about.emplace(tree.keys[i], tree.items[i].text);
  }
  return about;
}

// Neither holes nor overlaps, and nothing beyond.
void require_cover(const Header& header, std::uint64_t data_bytes) {
  std::vector<std::size_t> order(header.places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    return std::pair(header.places[i].begin, header.places[i].end);
  };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  std::uint64_t end = 0;
  for (const std::size_t i : order) {
    if (header.places[i].begin != end)
      refuse(header.snapshot.arrays[i].name, "does not begin where the one before it ends");
    end = header.places[i].end;
  }
  if (end != data_bytes)
    throw Error(
        Fault::wire,
        fmt::format("the file is damaged: {} bytes of data, its arrays have {}", data_bytes, end));
}

void parse_array(const std::string& name, const JsonTree& entry, Header& header) {
  if (entry.kind != JsonKind::object) refuse(name, "is described by something that is no object");
  Array array;
  array.name = name;
  array.dtype = parse_dtype(member(entry, name, "dtype"), name);
  array.shape = parse_shape(member(entry, name, "shape"), name);
  const Place place = parse_place(member(entry, name, "data_offsets"), name);
  if (bytes_of(array) != place.end - place.begin)
    refuse(name, "has another number of bytes than its shape says");
  header.snapshot.arrays.push_back(std::move(array));
  header.places.push_back(place);
}

}  // namespace

std::uint64_t bytes_of(const Array& array) {
  std::uint64_t bytes = row_of(array.dtype).bytes;
  for (const std::int64_t extent : array.shape)
    if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes))
      refuse(array.name, "has a shape that no file can hold");
  return bytes;
}

std::vector<Place> places_of(const std::vector<Array>& arrays) {
  std::vector<Place> places(arrays.size());
  std::uint64_t end = 0;
  for (const Dtype dtype : {Dtype::i64, Dtype::f32, Dtype::u8})
    for (std::size_t i = 0; i < arrays.size(); ++i)
      if (arrays[i].dtype == dtype) {
        places[i] = {end, end + arrays[i].bytes.size()};
        end = places[i].end;
      }
  return places;
}

std::string header_text(const Snapshot& snapshot, std::string_view checksum) {
  std::map<std::string, std::string> about = snapshot.about;
  about.emplace(kChecksumKey, checksum);
  std::vector<JsonMember> members = {{kMetadata, metadata_json(about)}};
  const std::vector<Place> places = places_of(snapshot.arrays);
  for (std::size_t i = 0; i < snapshot.arrays.size(); ++i) {
    const Array& array = snapshot.arrays[i];
    members.push_back({array.name, json_object({{"dtype", row_of(array.dtype).name},
                                                {"shape", shape_json(array)},
                                                {"data_offsets",
                                                 json_array({places[i].begin, places[i].end})}})});
  }
  std::string json = json_object(members).text();
  json.append((kAlignment - json.size() % kAlignment) % kAlignment, ' ');
  std::string text(kLengthBytes, '\0');
  put(std::as_writable_bytes(std::span(text)), std::uint64_t{json.size()});
  return text + json;
}

Header parse_header(std::string_view json, std::uint64_t data_bytes) {
  const JsonTree tree = parse_json(json);
  require(tree.kind == JsonKind::object, Fault::wire, "the header is no object");
  Header header;
  for (std::size_t i = 0; i < tree.keys.size(); ++i) {
    if (tree.keys[i] == kMetadata)
      header.snapshot.about = parse_metadata(tree.items[i]);
    else
      parse_array(tree.keys[i], tree.items[i], header);
  }
  require_cover(header, data_bytes);
  const auto checksum = header.snapshot.about.find(std::string(kChecksumKey));
  if (checksum != header.snapshot.about.end()) {
    header.checksum = checksum->second;
    header.snapshot.about.erase(checksum);
  }
  return header;
}

std::string checksum_of(const Snapshot& snapshot) {
  const std::vector<const Array*> arrays = by_name(snapshot.arrays);
  const std::string words = description(snapshot, arrays);
  std::uint64_t sum = checksum(std::as_bytes(std::span(words)));
  for (const Array* array : arrays) sum = checksum(array->bytes, sum);
  return fmt::format("{:016x}", sum);
}

}  // namespace narrowcast::format
