#include <fmt/core.h>

#include <limits>

#include "base/error.hpp"
#include "base/json.hpp"
#include "study/cell.hpp"

namespace narrowcast {
namespace {

// ---- writing ----

template <class Map>
JsonValue object_of(const Map& map) {
  std::vector<JsonMember> members;
  for (const auto& [key, value] : map) members.push_back({key, value});
  return json_object(members);
}

JsonValue row_json(const CellRow& row) {
  std::vector<JsonMember> members;
  for (const auto& [key, value] : row.texts) members.push_back({key, value});
  for (const auto& [key, value] : row.numbers) members.push_back({key, value});
  return json_object(members);
}

template <class Items, class Function>
JsonValue array_of(const Items& items, Function to_json) {
  std::vector<JsonValue> values;
  for (const auto& item : items) values.push_back(to_json(item));
  return json_array(values);
}

JsonValue machine_json(const CellMachine& machine) {
  return json_object({{"name", machine.name},
                      {"cpu", machine.cpu},
                      {"cores", machine.cores},
                      {"memory_bytes", machine.memory_bytes},
                      {"kernel", machine.kernel},
                      {"engines", object_of(machine.engines)}});
}

// ---- reading ----

[[noreturn]] void bad(const std::string& what) {
  throw Error(Fault::wire, "this is no record of a cell: " + what);
}

const JsonTree& member(const JsonTree& object, std::string_view key, JsonKind kind) {
  const JsonTree* found = object.find(key);
  if (found == nullptr) bad(fmt::format("it has no \"{}\"", key));
  if (found->kind != kind && !(kind == JsonKind::real && found->kind == JsonKind::whole))
    bad(fmt::format("\"{}\" is something else", key));
  return *found;
}

std::string text(const JsonTree& object, std::string_view key) {
  return member(object, key, JsonKind::text).text;
}

// What is not finite was written as null.
double number_of(const JsonTree& value, std::string_view key) {
  if (value.kind == JsonKind::null) return std::numeric_limits<double>::quiet_NaN();
  if (value.kind != JsonKind::whole && value.kind != JsonKind::real)
    bad(fmt::format("\"{}\" is no number", key));
  return value.number;
}

double number(const JsonTree& object, std::string_view key) {
  const JsonTree* found = object.find(key);
  if (found == nullptr) bad(fmt::format("it has no \"{}\"", key));
  return number_of(*found, key);
}

// A count that an int holds.
int count(const JsonTree& object, std::string_view key) {
  const std::int64_t value = member(object, key, JsonKind::whole).whole;
  if (value < 0 || value > std::numeric_limits<int>::max())
    bad(fmt::format("\"{}\" is {}", key, value));
  return static_cast<int>(value);
}

template <class Map>
void read_texts(const JsonTree& object, Map& into) {
  for (std::size_t i = 0; i < object.keys.size(); ++i) {
    if (object.items[i].kind != JsonKind::text)
      bad(fmt::format("\"{}\" is no text", object.keys[i]));
    into[object.keys[i]] = object.items[i].text;
  }
}

EpochPoint epoch_of(const JsonTree& object) {
  try {
    return epoch_of_json(object);
  } catch (const Error& error) {
    bad(error.what());
  }
}

CellRow row_of(const JsonTree& object) {
  CellRow row;
  for (std::size_t i = 0; i < object.keys.size(); ++i) {
    const JsonTree& item = object.items[i];
    if (item.kind == JsonKind::text)
      row.texts[object.keys[i]] = item.text;
    else
      row.numbers[object.keys[i]] = number_of(item, object.keys[i]);
  }
  return row;
}

CellMachine machine_of(const JsonTree& object) {
  CellMachine machine = {.name = text(object, "name"),
                         .cpu = text(object, "cpu"),
                         .cores = count(object, "cores"),
                         .memory_bytes = static_cast<std::uint64_t>(
                             member(object, "memory_bytes", JsonKind::whole).whole),
                         .kernel = text(object, "kernel")};
  read_texts(member(object, "engines", JsonKind::object), machine.engines);
  return machine;
}

Cell cell_of(const JsonTree& line) {
  Cell cell{.kind = text(line, "kind")};
  read_texts(member(line, "axes", JsonKind::object), cell.axes);
  read_texts(member(line, "settings", JsonKind::object), cell.settings);
  return cell;
}

CellState state_of(const std::string& state) {
  if (state == "done") return CellState::done;
  if (state != "failed") bad(fmt::format("its state is \"{}\", neither done nor failed", state));
  return CellState::failed;
}

}  // namespace

std::string to_json(const CellRecord& record) {
  const auto itself = [](const std::string& text) { return JsonValue(text); };
  return json_line({{kFormatKey, kRecordFormat},
                    {"study", record.study},
                    {"id", id_of(record.cell)},
                    {"kind", record.cell.kind},
                    {"axes", object_of(record.cell.axes)},
                    {"settings", object_of(record.cell.settings)},
                    {"state", record.state == CellState::done ? "done" : "failed"},
                    {"message", record.message},
                    {"tries", record.tries},
                    {"version", record.version},
                    {"commit", record.commit},
                    {"machine", machine_json(record.machine)},
                    {"commands", array_of(record.commands, itself)},
                    {"started", record.started},
                    {"seconds", record.seconds},
                    {"others", record.others},
                    {"values", object_of(record.values)},
                    {"epochs", array_of(record.epochs, json_of_epoch)},
                    {"rows", array_of(record.rows, row_json)},
                    {"replica_hash", record.replica_hash}});
}

CellRecord record_of_json(std::string_view line) {
  const JsonTree tree = parse_json(line);
  check_format(tree);
  CellRecord record = {.study = text(tree, "study"),
                       .cell = cell_of(tree),
                       .state = state_of(text(tree, "state")),
                       .message = text(tree, "message"),
                       .tries = count(tree, "tries"),
                       .version = text(tree, "version"),
                       .commit = text(tree, "commit"),
                       .machine = machine_of(member(tree, "machine", JsonKind::object)),
                       .started = text(tree, "started"),
                       .seconds = number(tree, "seconds"),
                       .others = number(tree, "others"),
                       .replica_hash = text(tree, "replica_hash")};
  if (text(tree, "id") != id_of(record.cell)) bad("its id is that of another cell");
  for (const JsonTree& command : member(tree, "commands", JsonKind::array).items)
    record.commands.push_back(command.text);
  const JsonTree& values = member(tree, "values", JsonKind::object);
  for (std::size_t i = 0; i < values.keys.size(); ++i)
    record.values[values.keys[i]] = number_of(values.items[i], values.keys[i]);
  for (const JsonTree& epoch : member(tree, "epochs", JsonKind::array).items)
    record.epochs.push_back(epoch_of(epoch));
  for (const JsonTree& row : member(tree, "rows", JsonKind::array).items)
    record.rows.push_back(row_of(row));
  return record;
}

}  // namespace narrowcast
