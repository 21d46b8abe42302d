#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "base/json.hpp"
#include "store/store.hpp"
#include "tests/store/sample.hpp"
#include "tests/support/bytes_in_files.hpp"
#include "tests/support/child.hpp"
#include "tests/support/fault_text.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace narrowcast::test {
namespace {

using testing::HasSubstr;

const std::filesystem::path kGolden = golden_folder() / "store";

// A file in the layout of safetensors.
std::string file_of(const std::string& json, const std::string& data) {
  std::string length(8, '\0');
  put(std::as_writable_bytes(std::span(length)), std::uint64_t{json.size()});
  return length + json + data;
}

std::string refusal_of(const std::string& bytes) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "file";
  write_contents(file, bytes);
  std::string text = fault_text([&] { read_snapshot(file); });
  EXPECT_TRUE(text == "no error" || text.find(file.string()) != std::string::npos) << text;
  EXPECT_EQ(std::string::npos, text.find('\n')) << text;
  return text;
}

TEST(Snapshot, ComesBackAsItWas) {
  const TemporaryFolder folder;
  const Snapshot snapshot = sample_snapshot();
  write_snapshot(folder / "file", snapshot);
  const Snapshot back = read_snapshot(folder / "file");
  EXPECT_EQ(snapshot.about, back.about);
  EXPECT_EQ(snapshot.arrays, back.arrays);
  EXPECT_EQ(1u, folder.files());
}

TEST(Snapshot, IsWrittenTheSameEachTime) {
  const TemporaryFolder folder;
  write_snapshot(folder / "a", sample_snapshot());
  write_snapshot(folder / "b", sample_snapshot());
  EXPECT_EQ(contents(folder / "a"), contents(folder / "b"));
}

TEST(Snapshot, MayBeEmpty) {
  const TemporaryFolder folder;
  write_snapshot(folder / "file", {});
  const Snapshot back = read_snapshot(folder / "file");
  EXPECT_TRUE(back.about.empty());
  EXPECT_TRUE(back.arrays.empty());
}

TEST(Snapshot, AlignsItsArrays) {
  const TemporaryFolder folder;
  write_snapshot(folder / "file", sample_snapshot());
  const std::string bytes = contents(folder / "file");
  const auto length = get<std::uint64_t>(std::as_bytes(std::span(bytes)));
  EXPECT_EQ(0u, length % 8);
  const JsonTree header = parse_json(std::string_view(bytes).substr(8, length));
  EXPECT_EQ(0, header.find("steps")->find("data_offsets")->items[0].whole % 8);
  for (const char* name : {"layer.weight", "scalar", "none"})
    EXPECT_EQ(0, header.find(name)->find("data_offsets")->items[0].whole % 4) << name;
}

TEST(Snapshot, FindsArraysByName) {
  const Snapshot snapshot = sample_snapshot();
  EXPECT_EQ(7.25F, floats_of(snapshot.at("scalar"))[0]);
  EXPECT_EQ(nullptr, snapshot.find("nothing"));
  EXPECT_EQ("wire: there is no array 'nothing'", fault_text([&] { (void)snapshot.at("nothing"); }));
  EXPECT_THAT(fault_text([&] { (void)floats_of(snapshot.at("steps")); }), HasSubstr("wire: "));
}

TEST(Snapshot, RefusesToWriteWhatCouldNotBeRead) {
  const TemporaryFolder folder;
  const auto refusal = [&](const Snapshot& snapshot) {
    return fault_text([&] { write_snapshot(folder / "file", snapshot); });
  };
  const Array one = bytes_array("one", 1);
  EXPECT_EQ("usage: there are two arrays 'one'", refusal({.about = {}, .arrays = {one, one}}));
  EXPECT_THAT(refusal({.about = {{"xxh3", "0"}}, .arrays = {}}), HasSubstr("usage: "));
  EXPECT_THAT(refusal({.about = {}, .arrays = {bytes_array("__metadata__", 1)}}),
              HasSubstr("usage: "));
  EXPECT_THAT(refusal({.about = {}, .arrays = {bytes_array("\xff", 1)}}), HasSubstr("usage: "));
  Array wrong = one;
  wrong.shape = {2};
  EXPECT_EQ("usage: array 'one' does not have its shape",
            refusal({.about = {}, .arrays = {wrong}}));
  EXPECT_EQ(0u, folder.files());
}

// Four letters make a file one of ours; without them, another program may have written it.
TEST(Snapshot, IsRefusedWithAnyBitTurned) {
  const TemporaryFolder folder;
  write_snapshot(folder / "file", sample_snapshot());
  const std::string good = contents(folder / "file");
  const std::size_t ours = good.find("\"xxh3\"") + 1;
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << at % 8));
    const bool foreign = at >= ours && at < ours + 4;
    EXPECT_TRUE(refusal_of(bad).starts_with(foreign ? "no error" : "wire: ")) << at << bad;
  }
}

TEST(Snapshot, IsRefusedWhereverItIsCut) {
  const TemporaryFolder folder;
  write_snapshot(folder / "good", sample_snapshot());
  const std::string good = contents(folder / "good");
  for (std::size_t size = 0; size < good.size(); ++size) {
    write_contents(folder / "cut", good.substr(0, size));
    ASSERT_THAT(fault_text([&] { read_snapshot(folder / "cut"); }), HasSubstr("wire: ")) << size;
  }
  write_contents(folder / "long", good + "x");
  EXPECT_THAT(fault_text([&] { read_snapshot(folder / "long"); }), HasSubstr("wire: "));
}

TEST(Snapshot, ReadsWhatOthersWroteWithoutAChecksum) {
  const TemporaryFolder folder;
  write_contents(folder / "file", file_of(R"( {"b":{"data_offsets":[4,5],"dtype":"U8","shape":[1]},
                              "a":{"shape":[1,1],"dtype":"F32","data_offsets":[0,4]}}  )",
                                          std::string("\0\0\x80\x3f!", 5)));
  const Snapshot snapshot = read_snapshot(folder / "file");
  EXPECT_EQ(1.0F, floats_of(snapshot.at("a"))[0]);
  EXPECT_EQ(std::byte{'!'}, snapshot.at("b").bytes[0]);
}

// Written once. tests/oracles has another program read the first and write the second.
TEST(Snapshot, KeepsItsBytesForEver) {
  const TemporaryFolder folder;
  write_snapshot(folder / "file", sample_snapshot());
  EXPECT_EQ(contents(kGolden / "ours.safetensors"), contents(folder / "file"));
}

TEST(Snapshot, ReadsWhatTheOriginalWrote) {
  const Snapshot snapshot = read_snapshot(kGolden / "theirs.safetensors");
  EXPECT_EQ((std::map<std::string, std::string>{{"by", "safetensors"}}), snapshot.about);
  EXPECT_EQ(3u, snapshot.arrays.size());
  const Array& weight = snapshot.at("layer.weight");
  EXPECT_EQ((std::vector<std::int64_t>{2, 3}), weight.shape);
  EXPECT_THAT(floats_of(weight), testing::ElementsAre(-2.5F, -1.5F, -0.5F, 0.5F, 1.5F, 2.5F));
  EXPECT_EQ(numbers_array("steps", {1, -2, std::int64_t{1} << 62}), snapshot.at("steps"));
  EXPECT_EQ(bytes_array("random", 5), snapshot.at("random"));
}

TEST(Snapshot, RefusesHeadersThatLie) {
  const auto with = [](const std::string& entry, const std::string& data) {
    return refusal_of(file_of("{\"a\":{" + entry + "}}", data));
  };
  const std::string four = R"("dtype":"F32","shape":[1],"data_offsets":)";
  EXPECT_EQ("no error", with(four + "[0,4]", "1234"));
  EXPECT_THAT(with(four + "[0,4]", "123"), HasSubstr("wire: "));
  EXPECT_THAT(with(four + "[0,4]", "12345"), HasSubstr("wire: "));
  EXPECT_THAT(with(four + "[0,3]", "123"), HasSubstr("than its shape says"));
  EXPECT_THAT(with(four + "[4,0]", "1234"), HasSubstr("ends before it begins"));
  EXPECT_THAT(with(four + "[1,5]", "12345"), HasSubstr("does not begin where"));
  EXPECT_THAT(with(four + "[-4,0]", "1234"), HasSubstr("no number"));
  EXPECT_THAT(with(four + "[0,4.0]", "1234"), HasSubstr("no number"));
  EXPECT_THAT(with(four + "[0,18446744073709551620]", "1234"), HasSubstr("no number"));
  EXPECT_THAT(with(four + "[0]", "1234"), HasSubstr("no offsets"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[1])", ""), HasSubstr("no data_offsets"));
  EXPECT_THAT(with(R"("dtype":"BF16","shape":[1],"data_offsets":[0,2])", "12"), HasSubstr("BF16"));
  EXPECT_THAT(with(R"("dtype":"U8","shape":[-1],"data_offsets":[0,1])", "1"),
              HasSubstr("no number"));
  EXPECT_THAT(with(R"("dtype":"U8","shape":[4294967296,4294967297],"data_offsets":[0,1])", "1"),
              HasSubstr("no file can hold"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4])", "1234"),
              HasSubstr("no file can hold"));
}

TEST(Snapshot, RefusesHolesOverlapsAndTwins) {
  const auto two = [](const std::string& first, const std::string& second, std::size_t bytes) {
    const std::string entry = R"({"dtype":"U8","shape":[2],"data_offsets":)";
    return refusal_of(file_of("{\"a\":" + entry + first + "},\"b\":" + entry + second + "}}",
                              std::string(bytes, '.')));
  };
  EXPECT_EQ("no error", two("[2,4]", "[0,2]", 4));
  EXPECT_THAT(two("[0,2]", "[1,3]", 3), HasSubstr("does not begin where"));
  EXPECT_THAT(two("[0,2]", "[0,2]", 2), HasSubstr("does not begin where"));
  EXPECT_THAT(two("[0,2]", "[3,5]", 5), HasSubstr("does not begin where"));
  EXPECT_THAT(refusal_of(file_of(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},
                                     "a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
                                 "")),
              HasSubstr("twice"));
}

TEST(Snapshot, RefusesWhatIsNoHeader) {
  EXPECT_THAT(refusal_of(""), HasSubstr("too short"));
  EXPECT_THAT(refusal_of(file_of("", "")), HasSubstr("not JSON"));
  EXPECT_THAT(refusal_of(file_of("[]", "")), HasSubstr("no object"));
  EXPECT_THAT(refusal_of(file_of(R"({"a":1})", "")), HasSubstr("no object"));
  EXPECT_THAT(refusal_of(file_of(R"({"__metadata__":1})", "")), HasSubstr("no object"));
  EXPECT_THAT(refusal_of(file_of(R"({"__metadata__":{"a":1}})", "")), HasSubstr("no text"));
  EXPECT_THAT(refusal_of(file_of(R"({"__metadata__":{"xxh3":"0123"}})", "")),
              HasSubstr("checksum"));
  EXPECT_THAT(refusal_of(std::string(16, '\xff')), HasSubstr("longer than the file"));
}

TEST(Snapshot, SaysWhichFileCannotBeRead) {
  const TemporaryFolder folder;
  const std::string missing = (folder / "missing").string();
  EXPECT_EQ("system: cannot read '" + missing + "': No such file or directory",
            fault_text([&] { read_snapshot(missing); }));
  EXPECT_THAT(fault_text([&] { read_snapshot(folder.path()); }), HasSubstr("it is no file"));
  const std::string fifo = (folder / "fifo").string();
  ASSERT_EQ(0, ::mkfifo(fifo.c_str(), 0600));
  EXPECT_THAT(fault_text([&] { read_snapshot(fifo); }), HasSubstr("it is no file"));
}

// As a full disk does, the limit lets a part of the file through.
TEST(Snapshot, LeavesTheOldFileWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "file";
  write_snapshot(file, sample_snapshot());
  const std::string before = contents(file);
  const int status = status_of([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit little = {65536, 65536};
    if (::setrlimit(RLIMIT_FSIZE, &little) != 0) return 2;
    const Snapshot large = {.about = {}, .arrays = {bytes_array("large", 100000)}};
    const std::string text = fault_text([&] { write_snapshot(file, large); });
    return text == "system: cannot write '" + file.string() + "': File too large" ? 0 : 1;
  });
  EXPECT_EQ(0, status);
  EXPECT_EQ(before, contents(file));
  EXPECT_EQ(1u, folder.files());
}

}  // namespace
}  // namespace narrowcast::test
