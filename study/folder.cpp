#include "study/folder.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "base/error.hpp"
#include "base/new_file.hpp"
#include "plan/toml.hpp"

namespace narrowcast {

namespace fs = std::filesystem;

namespace {

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(Fault::system,
                fmt::format("{} cannot be made: {}", folder.string(), error.message()));
}

CellRecord record_in(const std::string& text, const std::string& where) {
  try {
    return record_of_json(text);
  } catch (const Error& error) {
    throw Error(Fault::wire, fmt::format("{}: {}", where, error.what()));
  }
}

std::vector<CellRecord> records_of_cells(const fs::path& cells) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(cells, error))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  if (error)
    throw Error(Fault::system,
                fmt::format("{} cannot be read: {}", cells.string(), error.message()));
  std::ranges::sort(files);
  std::vector<CellRecord> records;
  for (const fs::path& file : files) records.push_back(record_in(read_text(file), file.string()));
  return records;
}

std::vector<CellRecord> records_of_lines(const fs::path& file) {
  const std::string text = read_text(file);
  std::vector<CellRecord> records;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    ++number;
    if (end > begin)
      records.push_back(
          record_in(text.substr(begin, end - begin), fmt::format("{}:{}", file.string(), number)));
    begin = end + 1;
  }
  return records;
}

}  // namespace

StudyFolder::StudyFolder(fs::path folder) : folder_(std::move(folder)) {
  for (const char* part : {"cells", "claims", "profiles", "work"}) make_folder(folder_ / part);
  for (const char* part : {"cells", "claims"}) remove_abandoned_files(folder_ / part);
  clear_claims();
  clear_work();
}

// Of processes that were killed: who is at work on a cell has a claim to it.
void StudyFolder::clear_work() {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / "work")) {
    const std::string name = entry.path().filename().string();
    if (!fs::exists(folder_ / "claims" / name.substr(0, name.find('.')), ignored))
      fs::remove(entry.path(), ignored);
  }
}

fs::path StudyFolder::cell_file(const std::string& id) const {
  return folder_ / "cells" / (id + ".json");
}

bool StudyFolder::has(const std::string& id) const {
  const fs::path file = cell_file(id);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return false;
  const auto old = again_.find(id);
  return old == again_.end() || to_json(record_in(read_text(file), file.string())) != old->second;
}

void StudyFolder::add(const CellRecord& record) {
  const std::string line = to_json(record);
  const std::string id = id_of(record.cell);
  NewFile file(cell_file(id).string());
  file.write(std::as_bytes(std::span(line)));
  file.take_name();
  again_.erase(id);
}

void StudyFolder::want_again(const CellRecord& record) {
  again_[id_of(record.cell)] = to_json(record);
}

std::vector<CellRecord> StudyFolder::records() const { return records_of_cells(folder_ / "cells"); }

fs::path StudyFolder::work_file(const std::string& id) const {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return folder_ / "work" / fmt::format("{}.{}.{}", id, host, getpid());
}

std::vector<CellRecord> read_records(const fs::path& from) {
  std::error_code ignored;
  if (fs::is_directory(from / "cells", ignored)) return records_of_cells(from / "cells");
  // What is not there is a file that cannot be read, as it is for every command.
  if (fs::is_regular_file(from, ignored) || !fs::exists(from, ignored))
    return records_of_lines(from);
  throw Error(Fault::usage,
              fmt::format("{} is neither a folder of 'narrowcast study run' nor a file of records",
                          from.string()));
}

std::vector<CellRecord> records_of(const Study& study, std::vector<CellRecord> records) {
  std::map<std::string, std::size_t> places;
  for (const Cell& cell : study.cells) places.try_emplace(id_of(cell), places.size());
  std::erase_if(records,
                [&](const CellRecord& record) { return !places.contains(id_of(record.cell)); });
  const auto place = [&](const CellRecord& record) { return places.at(id_of(record.cell)); };
  // The last first, and what failed after that.
  std::ranges::reverse(records);
  std::stable_partition(records.begin(), records.end(),
                        [](const CellRecord& record) { return record.state == CellState::done; });
  std::ranges::stable_sort(records, {}, place);
  const auto same = [&](const CellRecord& a, const CellRecord& b) { return place(a) == place(b); };
  records.erase(std::unique(records.begin(), records.end(), same), records.end());
  return records;
}

}  // namespace narrowcast
