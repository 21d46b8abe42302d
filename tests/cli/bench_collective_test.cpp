#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.hpp"
#include "cli/bench_collective_report.hpp"
#include "run/hosts.hpp"
#include "tests/cli/run_command.hpp"
#include "transport/shaped.hpp"

namespace narrowcast::cli::test {
namespace {

using Json = nlohmann::ordered_json;

std::vector<Json> rows_of(const Outcome& outcome) {
  EXPECT_EQ(0, outcome.code) << outcome.err;
  std::vector<Json> rows;
  for (const std::string& line : lines_of(outcome.out)) rows.push_back(Json::parse(line));
  return rows;
}

Outcome run_quickly(const std::string& collective, std::vector<std::string> more) {
  std::vector<std::string> words = {"bench", collective, "--transport", "inproc", "-n",
                                    "2",     "-w",       "1",           "-b",     "1K"};
  words.insert(words.end(), more.begin(), more.end());
  return run_command(words);
}

TEST(BenchCollective, HasItsJsonKeysInOrder) {
  const std::vector<std::string> expected = {
      "collective", "algorithm",  "codec",   "transport", "ranks",    "count",
      "bytes",      "wire_bytes", "ratio",   "time_us",   "algbw",    "busbw",
      "wrong",      "encode_us",  "wire_us", "decode_us", "max_error"};
  for (const char* collective :
       {"allreduce", "allgather", "reducescatter", "broadcast", "sendrecv", "transfer"}) {
    const auto rows = rows_of(run_quickly(collective, {"-e", "1K", "--json"}));
    ASSERT_FALSE(rows.empty());
    std::vector<std::string> keys;
    for (const auto& [key, value] : rows[0].items()) keys.push_back(key);
    ASSERT_LE(expected.size(), keys.size());
    keys.resize(expected.size());
    EXPECT_EQ(expected, keys) << collective;
    EXPECT_EQ(collective, rows[0]["collective"]);
    EXPECT_EQ("inproc", rows[0]["transport"]);
    EXPECT_EQ(0, rows[0]["wrong"]);
  }
}

TEST(BenchCollective, SaysWhatItsRowsWereMeasuredUnder) {
  const Json usual = rows_of(run_quickly("allreduce", {"-e", "1K", "--json"}))[0];
  EXPECT_EQ("fp32", usual["sum"]);
  EXPECT_EQ("encoded", usual["self"]);
  EXPECT_EQ("sum", usual["result"]);
  EXPECT_EQ(false, usual["residuals"]);
  EXPECT_EQ(256 << 10, usual["chunk"]);
  EXPECT_EQ(1, usual["threads"]);
  EXPECT_EQ("none", usual["sealing"]);
  for (const char* key : {"group", "shape"}) EXPECT_TRUE(usual[key].is_null()) << key;

  const Json other = rows_of(run_quickly(
      "allreduce", {"-e", "1K", "--json", "--algorithm", "hierarchy", "--group", "2", "--workers",
                    "4", "--average", "--residuals", "--shape", "1gbit,10us", "--chunk", "1K"}))[0];
  EXPECT_EQ("average", other["result"]);
  EXPECT_EQ(true, other["residuals"]);
  EXPECT_EQ(1024, other["chunk"]);
  EXPECT_EQ(2, other["group"]);
  EXPECT_EQ("1gbit,10us", other["shape"]);
  EXPECT_TRUE(rows_of(run_quickly("broadcast", {"-e", "1K", "--json"}))[0]["sum"].is_null());
}

TEST(BenchCollective, GoesThroughSizesAndCodecs) {
  const auto rows = rows_of(run_quickly(
      "allreduce", {"-e", "20K", "-f", "4", "--codec", "bf16", "--codec", "fp32", "--json"}));
  ASSERT_EQ(6u, rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(i % 2 == 0 ? "bf16" : "fp32", rows[i]["codec"]);
    EXPECT_EQ(std::size_t{1024} << (i / 2 * 2), rows[i]["bytes"]);
    EXPECT_EQ(i % 2 == 0 ? 2 : 1, rows[i]["ratio"]);
  }
}

TEST(BenchCollective, TakesEveryWayToAdd) {
  const std::vector<std::vector<std::string>> ways = {
      {"--algorithm", "ring"},
      {"--algorithm", "gather", "--average"},
      {"--algorithm", "hierarchy", "--group", "2", "--workers", "4"},
      {"--algorithm", "auto"},
      {"--sum", "format", "--codec", "e5m2"},
      {"--sum", "kahan", "--codec", "fp16"},
      {"--self", "exact", "--residuals", "--codec", "onebit"},
      {"--chunk", "100", "--threads", "2", "--seed", "7", "--workers", "3"},
      {"--shape", "1gbit,10us"},
  };
  for (std::vector<std::string> way : ways) {
    way.insert(way.end(), {"-e", "4K", "--json"});
    for (const Json& row : rows_of(run_quickly("allreduce", way)))
      EXPECT_EQ(0, row["wrong"]) << way[1];
  }
}

TEST(BenchCollective, SealsMessagesWithAKey) {
  const TemporaryFolder folder;
  const std::string key = (folder / "key").string();
  std::ofstream(key) << std::string(64, 'a') << "\n";
  std::filesystem::permissions(key, std::filesystem::perms::owner_read);
  for (const char* how : {"--json", "--encrypt"})
    for (const Json& row :
         rows_of(run_quickly("allreduce", {"-e", "1K", "--key-file", key, how, "--json"}))) {
      EXPECT_EQ(0, row["wrong"]);
      EXPECT_EQ(how == std::string("--encrypt") ? "encryption" : "key", row["sealing"]);
    }
}

TEST(BenchTransfer, StandsBesideFp32) {
  const auto rows = rows_of(run_quickly("transfer", {"-e", "64K", "-f", "64", "--json"}));
  ASSERT_EQ(4u, rows.size());
  EXPECT_EQ("fp32", rows[0]["codec"]);
  EXPECT_EQ("dynamic8", rows[1]["codec"]);
  EXPECT_EQ(16, rows[0]["side"]);
  EXPECT_EQ(128, rows[3]["side"]);
  EXPECT_EQ(1, rows[2]["speedup"]);
  EXPECT_DOUBLE_EQ(rows[2]["time_us"].get<double>() / rows[3]["time_us"].get<double>(),
                   rows[3]["speedup"].get<double>());
  const std::string table = run_quickly("transfer", {"-e", "64K", "-f", "64"}).out;
  EXPECT_NE(std::string::npos, table.find("1.47")) << table;  // the paper's 2.11 / 1.44
}

TEST(BenchCollective, RefusesInOneLineBeforeAnythingStarts) {
  const std::vector<std::vector<std::string>> refused = {
      {"allreduce", "--transport", "carrier-pigeon"},
      {"allreduce", "--transport", "mpi"},
      {"allreduce", "--workers", "0"},
      {"allreduce", "--workers", "many"},
      {"allreduce", "--workers", "100000"},
      {"allreduce", "--codec", "nonesuch"},
      {"allreduce", "--codec", ""},
      {"allreduce", "--codec", "engine"},
      {"allgather", "--codec", "engine"},
      {"allgather", "--algorithm", "ring"},
      {"allreduce", "--algorithm", "star"},
      {"allreduce", "--algorithm", "hierarchy"},
      {"allreduce", "--algorithm", "hierarchy", "--workers", "4"},
      {"allreduce", "--algorithm", "ring", "--sum", "kahan", "--codec", "e5m2"},
      {"allreduce", "--algorithm", "gather", "--self", "exact"},
      {"allreduce", "--sum", "format"},
      {"allreduce", "--sum", "double"},
      {"allreduce", "--self", "important"},
      {"allreduce", "--shape", "1gb"},
      {"allreduce", "--shape", "1gbit,"},
      {"allreduce", "--encrypt"},
      {"allreduce", "--key-file", "/no/such/key"},
      {"allreduce", "--timeout", "0"},
      {"allreduce", "--chunk", "0"},
      {"allreduce", "--threads", "0"},
      {"allreduce", "--group", "-1"},
      {"allreduce", "--group", "2", "--workers", "4"},
      {"allreduce", "--group", "2", "--workers", "4", "--algorithm", "ring"},
      {"allreduce", "--rendezvous", "tcp://127.0.0.1:1"},
      {"allreduce", "--rendezvous", "carrier://pigeon"},
      {"allreduce", "--sum", ""},
      {"allreduce", "-b", "2M", "-e", "1M"},
      {"allreduce", "-b", "3"},
      {"allreduce", "-f", "1"},
      {"allreduce", "-n", "0"},
      {"allreduce", "-w", "-1"},
      {"allreduce", "--seed", "-1"},
      {"allreduce", "-n", "1", "-n", "2"},
      {"sendrecv", "--workers", "1"},
      {"transfer", "--workers", "3"},
  };
  for (std::vector<std::string> words : refused) {
    SCOPED_TRACE(testing::PrintToString(words));
    words.insert(words.begin(), "bench");
    expect_refusal(run_command(words), 2);
  }
  expect_refusal(run_command({"bench", "allreduce", "--hosts", "/no/such/file"}), 5);
  expect_refusal(run_command({"bench", "allreduce", "-b", "1G", "-e", "4000G", "-f", "4000"}), 5);
}

Variables variables_of(std::map<std::string, std::string, std::less<>> values) {
  return [values](std::string_view name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

const Variables kOpenMpi = variables_of({{"OMPI_COMM_WORLD_RANK", "1"},
                                         {"OMPI_COMM_WORLD_SIZE", "4"},
                                         {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});

TEST(Ranks, AreThoseOfTheLauncher) {
  const Ranks ranks({}, kOpenMpi);
  EXPECT_EQ("mpi", ranks.transport());
  EXPECT_EQ(4, ranks.size());
  EXPECT_EQ(2, ranks.local_size());
  EXPECT_FALSE(ranks.starts_them());
}

TEST(Ranks, AreStartedWhereThereIsNoLauncher) {
  const Ranks usual({}, variables_of({}));
  EXPECT_EQ("shm", usual.transport());
  EXPECT_EQ(2, usual.size());
  EXPECT_TRUE(usual.starts_them());
  EXPECT_EQ("inproc", Ranks({.transport = "inproc"}, variables_of({})).transport());
}

void expect_refused(const RankWords& words, const Variables& variables, const std::string& why) {
  try {
    const Ranks ranks(words, variables);
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(Fault::usage, error.fault());
    EXPECT_NE(std::string::npos, std::string(error.what()).find(why)) << error.what();
  }
}

TEST(Ranks, AreNotStartedTwice) {
  RankWords words;
  words.workers = "2";
  expect_refused(words, kOpenMpi, "Open MPI has started 4 already");
  words = {.transport = "gloo"};
  expect_refused(words, kOpenMpi, "--transport mpi, not gloo");
}

const Variables kRankOfTwo = variables_of({{"RANK", "1"}, {"WORLD_SIZE", "2"}});

TEST(Ranks, MeetWhereTheRendezvousIs) {
  RankWords words;
  words.rendezvous = "carrier://pigeon";
  expect_refused(words, kRankOfTwo, "carrier");
  words.rendezvous = "file:///nowhere";
  expect_refused(words, variables_of({}), "RANK and WORLD_SIZE");
  words.transport = "shm";
  expect_refused(words, kRankOfTwo, "--transport gloo, not shm");
  words.transport = "gloo";
  words.workers = "2";
  expect_refused(words, kRankOfTwo, "leave --workers out");
}

// Under a launcher, since there an engine can be had without starting one.
void expect_job_refused(const CollectiveWords& words, const std::string& why) {
  const Ranks ranks(words.ranks, kOpenMpi);
  try {
    job_of(words, ranks);
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(Fault::usage, error.fault());
    EXPECT_NE(std::string::npos, std::string(error.what()).find(why)) << error.what();
  }
}

TEST(CollectiveJob, RefusesOptionsThatDoNothingForTheEngine) {
  CollectiveWords engine;
  engine.codecs = {"engine"};
  job_of(engine, Ranks(engine.ranks, kOpenMpi));
  const auto given = [&](const auto& give) {
    CollectiveWords words = engine;
    give(words);
    return words;
  };
  expect_job_refused(given([](auto& words) { words.sum = "fp32"; }), "--sum");
  expect_job_refused(given([](auto& words) { words.self = "encoded"; }), "--self");
  expect_job_refused(given([](auto& words) { words.algorithm = "ring"; }), "--algorithm");
  expect_job_refused(given([](auto& words) { words.residuals = true; }), "--residuals");
  expect_job_refused(given([](auto& words) { words.chunk = "1K"; }), "--chunk");
  CollectiveWords both = given([](auto& words) { words.codecs = {"engine", "bf16"}; });
  both.algorithm = "ring";
  job_of(both, Ranks(both.ranks, kOpenMpi));
  both.average = true;
  expect_job_refused(both, "--average");
}

class HostsFile {
 public:
  explicit HostsFile(const std::string& text) { std::ofstream(path()) << text; }
  std::string path() const { return (folder_ / "hosts").string(); }

 private:
  TemporaryFolder folder_;
};

TEST(Hosts, AreAddressesWithSlots) {
  const HostsFile file("# a comment\nnode1 4\n\n  me@node2   # one slot\n10.0.0.3 2\r\n");
  const std::vector<Host> hosts = read_hosts(file.path());
  ASSERT_EQ(3u, hosts.size());
  EXPECT_EQ("node1", hosts[0].address);
  EXPECT_EQ(4, hosts[0].slots);
  EXPECT_EQ("me@node2", hosts[1].address);
  EXPECT_EQ(1, hosts[1].slots);
  EXPECT_EQ(7, ranks_on(hosts));
}

TEST(Hosts, RefusesOtherLines) {
  for (const char* text : {"", "# nobody\n", "a 0\n", "a x\n", "a 1 2\n", "-oProxyCommand=x\n",
                           "a;b\n", "a -1\n", "a 9999999999\n"}) {
    const HostsFile file(text);
    EXPECT_THROW(read_hosts(file.path()), Error) << text;
  }
}

TEST(Shape, IsARateAndALatency) {
  EXPECT_DOUBLE_EQ(125e6, parse_shape("1gbit").bytes_per_second);
  EXPECT_DOUBLE_EQ(12.5e6, parse_shape("100mbit,200us").bytes_per_second);
  EXPECT_EQ(std::chrono::microseconds(200), parse_shape("100mbit,200us").latency);
  EXPECT_EQ(std::chrono::microseconds(1500), parse_shape("64kbit,1.5ms").latency);
  EXPECT_EQ(std::chrono::nanoseconds(0), parse_shape("10gbit").latency);
  for (const char* text : {"", "gbit", "1", "0gbit", "-1gbit", "1gbit,", "1gbit,5", "1gbit,-5us",
                           "1gbit,1us,1us", "infgbit", "nangbit", "1gbit,3600s"})
    EXPECT_THROW(parse_shape(text), Error) << text;
}

TEST(CollectiveReport, FailsAfterItsTableWhenValuesAreWrong) {
  CollectiveWords words;
  words.ranks.transport = "inproc";
  const Ranks ranks(words.ranks, variables_of({}));
  const CollectiveJob job = job_of(words, ranks);
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  const Console console{.in = in, .out = out, .err = err};
  CollectiveReport report(job, ranks, console);
  bench::CollectiveTime time{.ranks = 2, .count = 256, .time_us = 1, .wrong = 3};
  report.add({{"dynamic8", "direct", time}});
  try {
    report.finish();
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(Fault::wire, error.fault());
    EXPECT_STREQ("3 values came out wrong", error.what());
  }
  EXPECT_NE(std::string::npos, out.str().find("dynamic8")) << out.str();
}

TEST(ErrorsAllreduce, ShowsThePaperBesideItsOwnSetting) {
  const Outcome outcome =
      run_command({"errors", "allreduce", "--ranks", "6", "--values", "200", "--json"});
  const auto rows = rows_of(outcome);
  ASSERT_EQ(2u, rows.size());
  EXPECT_EQ("hierarchy", rows[0]["algorithm"]);
  EXPECT_EQ(4, rows[0]["group"]);
  EXPECT_TRUE(rows[0]["published_percent"].is_null());
  EXPECT_EQ("ring", rows[1]["algorithm"]);
  EXPECT_TRUE(rows[1]["kahan_percent"].is_null());
  expect_refusal(run_command({"errors", "allreduce", "--ranks", "1"}), 2);
  expect_refusal(run_command({"errors", "allreduce", "--codec", "dynamic8"}), 2);
}

}  // namespace
}  // namespace narrowcast::cli::test
