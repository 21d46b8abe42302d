#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "study/cell.hpp"
#include "study/study.hpp"

// Where a study keeps what it has measured. Several processes, also of several machines that share the folder,
// may work on it.
//
//   study.toml      the study, as it was when the folder was begun
//   cells/ID.json   a record; there is none, or it is whole
//   claims/ID       who is at work on that cell; touched while it lives
//   profiles/       calibrations that cells share
//   work/           what is under way
namespace narrowcast {

// A cell that is this process's until this goes away. A thread touches its file so that others see it alive.
class Claim {
 public:
  virtual ~Claim() = default;
};

// After that time without a sign of life, whoever had a claim is taken for dead. Of a process of this machine that
// has ended, it is known at once.
inline constexpr std::chrono::minutes kClaimLife(5);

class StudyFolder {
 public:
  // Makes what is missing. Fault::system when that fails.
  explicit StudyFolder(std::filesystem::path folder);

  const std::filesystem::path& path() const { return folder_; }
  std::filesystem::path profiles() const { return folder_ / "profiles"; }
  std::filesystem::path study_file() const { return folder_ / "study.toml"; }

  bool has(const std::string& id) const;
  void add(const CellRecord& record);
  // As if it had no such record, which stays until there is another of that cell.
  void want_again(const CellRecord& record);
  std::vector<CellRecord> records() const;  // Fault::wire names the file that is none

  // Nothing when somebody else has it.
  std::unique_ptr<Claim> claim(const std::string& id);

  // A file under work/ that is nobody else's.
  std::filesystem::path work_file(const std::string& id) const;

 private:
  std::filesystem::path cell_file(const std::string& id) const;
  void clear_claims();
  void clear_work();

  std::filesystem::path folder_;
  std::map<std::string, std::string> again_;  // records as they were, by id
};

// Records from a folder of a study, in which nothing is changed, or from a file of JSON Lines, the last of which may
// lack its end. Fault::usage for what is neither, Fault::wire for a line that is no record, or a part of one.
std::vector<CellRecord> read_records(const std::filesystem::path& from);

// Those of the study, in its order; of several of one cell the last, and none that failed if another did not. Records of cells that it no longer has stay where they are kept, and out of it.
std::vector<CellRecord> records_of(const Study& study, std::vector<CellRecord> records);

}  // namespace narrowcast
