// The machines and commits that made the records.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "study/report/rows.hpp"

namespace narrowcast {
namespace {

std::string engines(const CellMachine& machine) {
  std::string text;
  for (const auto& [engine, version] : machine.engines)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", engine, version);
  return text;
}

Figure machines(std::span<const CellRecord> records) {
  Figure figure{
      .id = "machines",
      .title = "Machines",
      .table = {.columns = {text_column("machine"), text_column("CPU"), number_column("cores"),
                            number_column("memory", "GB", 1), text_column("kernel"),
                            text_column("engines"), number_column("cells")}},
      .showing = Showing::open};
  std::vector<std::pair<const CellMachine*, std::size_t>> seen;
  for (const CellRecord& record : records) {
    const auto found =
        std::ranges::find_if(seen, [&](const auto& each) { return *each.first == record.machine; });
    if (found == seen.end())
      seen.emplace_back(&record.machine, 1);
    else
      ++found->second;
  }
  for (const auto& [machine, cells] : seen)
    figure.table.rows.push_back({machine->name, machine->cpu, static_cast<double>(machine->cores),
                                 static_cast<double>(machine->memory_bytes) / 1e9, machine->kernel,
                                 engines(*machine), static_cast<double>(cells)});
  return figure;
}

struct Commit {
  std::string version;
  std::string first;
  std::string last;
  std::size_t cells = 0;
};

Figure commits(std::span<const CellRecord> records) {
  Figure figure{.id = "commits",
                .title = "Commits",
                .table = {.columns = {{.name = "commit", .kind = ColumnKind::code},
                                      text_column("version"),
                                      number_column("cells"),
                                      text_column("first"),
                                      text_column("last")}},
                .showing = Showing::open};
  std::map<std::string, Commit> seen;
  for (const CellRecord& record : records) {
    Commit& commit = seen[record.commit];
    if (commit.cells++ == 0) commit = {record.version, record.started, record.started, 1};
    commit.first = std::min(commit.first, record.started);
    commit.last = std::max(commit.last, record.started);
  }
  for (const auto& [name, commit] : seen)
    figure.table.rows.push_back(
        {name, commit.version, static_cast<double>(commit.cells), commit.first, commit.last});
  return figure;
}

std::vector<Block> blocks(const ReportData& data) {
  if (data.records.empty()) return {};
  return {machines(data.records), commits(data.records)};
}

}  // namespace

ReportSection origins_section() { return {"origins", "Machines and commits", blocks}; }

}  // namespace narrowcast
