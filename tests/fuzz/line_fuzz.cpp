// Any bytes as a file that is read line by line or word by word: records of cells, what a run tells, settings of a run,
// hosts, a job key.
//
//   input:   u8 which reader | the file's bytes
#include "run/hosts.hpp"
#include "run/run.hpp"
#include "study/folder.hpp"
#include "study/records.hpp"
#include "tests/fuzz/support/allowed.hpp"
#include "tests/fuzz/support/file.hpp"
#include "transport/environment.hpp"

namespace {

using namespace narrowcast;

const std::filesystem::path& file_of(Bytes bytes) {
  static const fuzz::Folder folder;
  static fuzz::File file(folder / "lines");
  return file.holding(bytes);
}

void records(Bytes bytes) { read_records(file_of(bytes)); }
void run_lines(Bytes bytes) { read_run(file_of(bytes)); }

void settings(Bytes bytes) {
  const Run run = resolve_run(read_settings(file_of(bytes)));
  const std::string text = to_toml(run);
  const Run again = resolve_run(read_settings(file_of(std::as_bytes(std::span(text)))));
  if (to_toml(again) != text) abort();
}

void hosts(Bytes bytes) {
  for (const Host& host : read_hosts(file_of(bytes)))
    if (host.address.empty() || host.address.front() == '-' || host.slots < 1) abort();
}

void job_key(Bytes bytes) { read_job_key(file_of(bytes)); }

const fuzz::Reader kReaders[] = {
    {records, {Fault::wire}, {256 * fuzz::kKilo, fuzz::kKilo}},
    {run_lines, {Fault::wire}, {256 * fuzz::kKilo, fuzz::kKilo}},
    // Settings may name a plan's file that is not there.
    {settings, {Fault::usage, Fault::system}, {fuzz::kMega, 4 * fuzz::kKilo}},
    {hosts, {Fault::usage}, {64 * fuzz::kKilo, 64}},
    {job_key, {Fault::usage}, {64 * fuzz::kKilo, 16}},
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::hand_over(kReaders, fuzz::bytes_of(data, size));
}
