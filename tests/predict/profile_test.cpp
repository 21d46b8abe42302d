#include "predict/profile.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <tuple>

#include "predict/parts/profile_keys.hpp"
#include "tests/support/fault_text.hpp"

namespace narrowcast::test {
namespace {

using testing::StartsWith;

Profile parsed(std::string_view toml) { return parse_profile(toml, "p.toml"); }

// A profile with everything, line by line, of which a test changes one.
const std::vector<std::string> kLines{R"(name = "lab")",                  // 1
                                      R"(source = "measured")",           // 2
                                      R"(machine_workers = 4)",           // 3
                                      R"(cores = 1.5)",                   // 4
                                      R"(price = 14.4)",                  // 5
                                      R"([machine])",                     // 6
                                      R"(latency_us = 2)",                // 7
                                      R"(bandwidth = "12.5GB")",          // 8
                                      R"([network])",                     // 9
                                      R"(latency_us = 50)",               // 10
                                      R"(bandwidth = "1gbit")",           // 11
                                      R"(duplex = false)",                // 12
                                      R"(sharing = 4)",                   // 13
                                      R"(cpu_ns_per_byte = 0.25)",        // 14
                                      R"(cpu_us_per_message = 3)",        // 15
                                      R"(spread = 0.05)",                 // 16
                                      R"([[codec]])",                     // 17
                                      R"(codec = "dynamic8")",            // 18
                                      R"(encode_ns = 0.5)",               // 19
                                      R"(decode_ns = 0.25)",              // 20
                                      R"(add_ns = 0.375)",                // 21
                                      R"(feedback_ns = 0.1)",             // 22
                                      R"(spread = 0.02)",                 // 23
                                      R"([[codec]])",                     // 24
                                      R"(codec = "*")",                   // 25
                                      R"(encode_ns = 1)",                 // 26
                                      R"(decode_ns = 2)",                 // 27
                                      R"(add_ns = 3)",                    // 28
                                      R"([compute])",                     // 29
                                      R"(flops = "15.7T")",               // 30
                                      R"(overhead_us = 10)",              // 31
                                      R"(straggler = 0.03)",              // 32
                                      R"(spread = 0.1)",                  // 33
                                      R"([[model]])",                     // 34
                                      R"(name = "lenet")",                // 35
                                      R"(batch = 64)",                    // 36
                                      R"(forward_ms = 3)",                // 37
                                      R"(backward_ms = 7.5)",             // 38
                                      R"(rest_ms = 0.5)",                 // 39
                                      R"(straggler = 0.04)",              // 40
                                      R"(spread = 0.06)",                 // 41
                                      R"(tensors = [)",                   // 42
                                      R"(  ["fc.weight", 5000, 1.25],)",  // 43
                                      R"(  ["fc.bias", 10, 1.25],)",      // 44
                                      R"(  ["conv.weight", 500, 7.5],)",  // 45
                                      R"(])"};                            // 46

std::string text_of_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string with(std::size_t line, const std::string& text) {
  std::vector<std::string> lines = kLines;
  lines.at(line - 1) = text;
  return text_of_lines(lines);
}

std::string refusal(const std::string& toml) {
  std::string text = fault_text([&] { parsed(toml); });
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  return text;
}

// One value that must be refused where it stands, and the rest of the message after the key.
struct Bad {
  std::size_t line;
  std::string text;
  std::string message;
};

void expect_refused(const std::vector<Bad>& all) {
  for (const Bad& bad : all)
    EXPECT_THAT(refusal(with(bad.line, bad.text)),
                StartsWith(fmt::format("usage: p.toml:{}: {}", bad.line, bad.message)))
        << bad.text;
}

TEST(AProfile, HasEveryKey) {
  const Profile expected{
      .name = "lab",
      .source = "measured",
      .machine_workers = 4,
      .cores = 1.5,
      .price = 14.4,
      .machine = {.latency_us = 2, .bandwidth = 12.5e9},
      .network = {.latency_us = 50,
                  .bandwidth = 125e6,
                  .duplex = false,
                  .sharing = 4,
                  .cpu_ns_per_byte = 0.25,
                  .cpu_us_per_message = 3,
                  .spread = 0.05},
      .codecs = {{"dynamic8", 0.5, 0.25, 0.375, 0.1, 0.02}, {"*", 1, 2, 3, 0, 0}},
      .compute = {.flops = 15.7e12, .overhead_us = 10, .straggler = 0.03, .spread = 0.1},
      .models = {
          {.name = "lenet",
           .batch = 64,
           .forward_ms = 3,
           .backward_ms = 7.5,
           .rest_ms = 0.5,
           .straggler = 0.04,
           .spread = 0.06,
           .tensors = {
               {"fc.weight", 5000, 1.25}, {"fc.bias", 10, 1.25}, {"conv.weight", 500, 7.5}}}}};
  EXPECT_EQ(parsed(text_of_lines(kLines)), expected);
}

TEST(AProfile, MayHaveTheNetworkAlone) {
  const Profile profile = parsed("name = 'x'\n[network]\nlatency_us = 1\nbandwidth = 1e9");
  EXPECT_EQ(profile, (Profile{.name = "x", .network = {.latency_us = 1, .bandwidth = 1e9}}));
  EXPECT_EQ(parsed(to_toml(profile)), profile);
}

TEST(AProfile, TakesRatesInBytesAndInUnits) {
  const auto bandwidth = [](const std::string& text) {
    return parsed(with(11, "bandwidth = " + text)).network.bandwidth;
  };
  EXPECT_EQ(bandwidth("1"), 1);
  EXPECT_EQ(bandwidth("1.5e9"), 1.5e9);
  EXPECT_EQ(bandwidth("'125000000'"), 125e6);
  EXPECT_EQ(bandwidth("'800kbit'"), 1e5);
  EXPECT_EQ(bandwidth("'100mbit'"), 12.5e6);
  EXPECT_EQ(bandwidth("'10gbit'"), 1.25e9);
  EXPECT_EQ(bandwidth("'64kB'"), 64e3);
  EXPECT_EQ(bandwidth("'3MB'"), 3e6);
  EXPECT_EQ(bandwidth("'12.5GB'"), 12.5e9);
  EXPECT_EQ(bandwidth("'1TB'"), 1e12);
}

TEST(AProfile, TakesOperationsInUnits) {
  const auto flops = [](const std::string& text) {
    return parsed(with(30, "flops = " + text)).compute.flops;
  };
  EXPECT_EQ(flops("7e12"), 7e12);
  EXPECT_EQ(flops("'900G'"), 9e11);
  EXPECT_EQ(flops("'0.5P'"), 5e14);
}

TEST(AProfile, IsRefusedForUnknownKeysWithTheNearest) {
  expect_refused({
      {2, "sources = 'x'", "unknown key 'sources' of a profile; did you mean 'source'?"},
      {7, "latency = 2", "unknown key 'latency' of [machine]; did you mean 'latency_us'?"},
      {14, "cpu = 1", "unknown key 'cpu' of [network]; there are: latency_us, bandwidth"},
      {22, "feedbackns = 1", "unknown key 'feedbackns' of [[codec]]; did you mean 'feedback_ns'?"},
      {31, "overhead = 1", "unknown key 'overhead' of [compute]; did you mean 'overhead_us'?"},
      {39, "rests_ms = 1", "unknown key 'rests_ms' of [[model]]; did you mean 'rest_ms'?"},
      {6, "[machines]", "unknown key 'machines' of a profile; did you mean 'machine'?"},
  });
}

TEST(AProfile, IsRefusedForMissingKeys) {
  for (const auto& [line, where, message] : std::vector<std::tuple<std::size_t, int, std::string>>{
           {7, 6, "[machine] needs latency_us"},
           {11, 9, "[network] needs bandwidth"},
           {18, 17, "[[codec]] needs codec"},
           {19, 17, "[[codec]] needs encode_ns"},
           {27, 24, "[[codec]] needs decode_ns"},
           {21, 17, "[[codec]] needs add_ns"},
           {30, 29, "[compute] needs flops"},
           {35, 34, "[[model]] needs name"},
           {36, 34, "[[model]] needs batch"},
           {37, 34, "[[model]] needs forward_ms"},
           {38, 34, "[[model]] needs backward_ms"}})
    EXPECT_EQ(refusal(with(line, "")), fmt::format("usage: p.toml:{}: {}", where, message));
  EXPECT_EQ(refusal(with(1, "")), "usage: p.toml: a profile needs name");
  EXPECT_EQ(refusal("name = 'x'"), "usage: p.toml: a profile needs [network]");
  EXPECT_THAT(refusal("name = 'x'\nmachine_workers = 2\n[network]\nlatency_us=1\nbandwidth=1"),
              StartsWith("usage: p.toml:2: machine_workers above 1 needs [machine]"));
  std::vector<std::string> lines(kLines.begin(), kLines.begin() + 41);
  EXPECT_EQ(refusal(text_of_lines(lines)), "usage: p.toml:34: [[model]] needs tensors");
  expect_refused({{1, "name = ''", "name of a profile is a name, not ''"},
                  {18, "codec = ''", "codec of [[codec]] is a spec"}});
}

TEST(AProfile, IsRefusedForNegativeAndEndlessValues) {
  for (const char* value :
       {"-1", "-1e-300", "inf", "-inf", "nan", "'12 GB'", "''", "true", "1979-05-27"})
    for (const auto& [line, key] :
         std::vector<std::pair<std::size_t, std::string>>{{3, "machine_workers of a profile"},
                                                          {4, "cores of a profile"},
                                                          {5, "price of a profile"},
                                                          {7, "latency_us of [machine]"},
                                                          {8, "bandwidth of [machine]"},
                                                          {13, "sharing of [network]"},
                                                          {14, "cpu_ns_per_byte of [network]"},
                                                          {15, "cpu_us_per_message of [net"},
                                                          {16, "spread of [network]"},
                                                          {19, "encode_ns of [[codec]]"},
                                                          {20, "decode_ns of [[codec]]"},
                                                          {21, "add_ns of [[codec]]"},
                                                          {22, "feedback_ns of [[codec]]"},
                                                          {23, "spread of [[codec]]"},
                                                          {30, "flops of [compute]"},
                                                          {31, "overhead_us of [compute]"},
                                                          {32, "straggler of [compute]"},
                                                          {33, "spread of [compute]"},
                                                          {36, "batch of [[model]]"},
                                                          {37, "forward_ms of [[model]]"},
                                                          {38, "backward_ms of [[model]]"},
                                                          {39, "rest_ms of [[model]]"},
                                                          {40, "straggler of [[model]]"},
                                                          {41, "spread of [[model]]"}})
      expect_refused({{line, fmt::format("{} = {}", key.substr(0, key.find(' ')), value), key}});
}

TEST(AProfile, IsRefusedForAbsurdValues) {
  expect_refused({
      {3, "machine_workers = 0",
       "machine_workers of a profile is a whole number of workers from 1"},
      {3, "machine_workers = 1.5", "machine_workers of"},
      {3, "machine_workers = 1000001", "machine_workers of"},
      {4, "cores = 0", "cores of a profile is a number of cores from 0.001 to 1024, not '0'"},
      {4, "cores = 1025", "cores of"},
      {5, "price = 1000001", "price of a profile is US dollars an hour from 0 to 1000000"},
      {10, "latency_us = 10000001", "latency_us of [network] is microseconds from 0 to 10000000"},
      {11, "bandwidth = 0", "bandwidth of [network] is bytes a second"},
      {11, "bandwidth = '0gbit'", "bandwidth of"},
      {11, "bandwidth = 1.01e14", "bandwidth of"},
      {11, "bandwidth = '101TB'", "bandwidth of"},
      {11, "bandwidth = '1Gb'", "bandwidth of"},
      {11, "bandwidth = 'gbit'", "bandwidth of"},
      {11, "bandwidth = '1e308TB'", "bandwidth of"},
      {12, "duplex = 1", "duplex of [network] is true or false, not '1'"},
      {13, "sharing = 0", "sharing of [network] is a whole number of workers from 1"},
      {16, "spread = 2.001", "spread of [network] is a part of the median from 0 to 2"},
      {19, "encode_ns = 1e7", "encode_ns of"},
      {30, "flops = 0", "flops of [compute] is operations a second"},
      {30, "flops = '1001P'", "flops of"},
      {32, "straggler = 3", "straggler of"},
      {36, "batch = 0", "batch of"},
      {36, "batch = 18446744073709551616", ""},
      {37, "forward_ms = 1.1e9", "forward_ms of"},
  });
}

TEST(AProfile, IsRefusedForTensorsThatCannotBe) {
  expect_refused({
      {43, "['a', 0, 1],", "elements of 'a' in tensors is a whole number from 1"},
      {43, "['a', 1.5, 1],", "elements of 'a' in tensors"},
      {43, "['a', -3, 1],", "elements of 'a' in tensors"},
      {43, "['a', 3, -1],", "ready_ms of 'a' in tensors is a number from 0"},
      {43, "['a', 3, nan],", "ready_ms of 'a' in tensors"},
      {43, "['a', 3],", "each of tensors is [\"name\", elements, ready_ms]"},
      {43, "['', 3, 1],", "each of tensors is"},
      {43, "['a', 3, [1]],", "each of tensors is"},
      {43, "'a',", "each of tensors is"},
      {44, "['b', 3, 1.2],", "ready_ms of tensors ascends: 'b' with 1.2 comes after 1.25"},
      {44, "['fc.weight', 3, 1.25],", "'fc.weight' is twice in tensors"},
      {45, "['b', 3, 7.502],", "ready_ms of 'b' in tensors is 7.502, after the end of back-prop"},
  });
  EXPECT_EQ(refusal(text_of_lines({kLines.begin(), kLines.begin() + 41}) + "tensors = 3"),
            "usage: p.toml:42: tensors is a list of [\"name\", elements, ready_ms]");
}

TEST(AProfile, MayHaveATensorThatIsReadyAtTheEndButForRounding) {
  EXPECT_EQ(parsed(with(45, "['b', 3, 7.5005]")).models.at(0).tensors.back().ready_ms, 7.5005);
}

TEST(AProfile, IsRefusedForCodecsThatDoNotExistOrComeTwice) {
  expect_refused({
      {18, "codec = 'dynamik8'", "codec: "},
      {18, "codec = 'qsgd:bits=77'", "codec: "},
      {25, "codec = 'dynamic8'", "codec 'dynamic8' has a [[codec]] already: 'dynamic8'"},
      {25, "codec = '" + canonical_codec("dynamic8") + "'", "codec '"},
  });
  EXPECT_THAT(refusal(with(18, "codec = '*'")),
              StartsWith("usage: p.toml:25: codec '*' has a [[codec]] already"));
}

TEST(AProfile, IsRefusedForAModelThatComesTwice) {
  std::vector<std::string> lines = kLines;
  lines.insert(lines.end(), kLines.begin() + 33, kLines.end());
  EXPECT_EQ(refusal(text_of_lines(lines)),
            "usage: p.toml:48: name 'lenet' has a [[model]] already");
}

TEST(AProfile, IsRefusedForTheWrongKindOfValue) {
  EXPECT_EQ(refusal("network = 3\nname = 'x'"), "usage: p.toml:1: [network] is a table");
  EXPECT_EQ(refusal("name = 'x'\ncodec = 3"),
            "usage: p.toml:2: codec is a list of tables, each of them [[codec]]");
  EXPECT_EQ(refusal("name = 'x'\n[model]\nname = 'x'"),
            "usage: p.toml:2: model is a list of tables, each of them [[model]]");
  expect_refused({{1, "name = ['x']", "name of a profile is one value"},
                  {7, "latency_us = { a = 1 }", "latency_us of [machine] is one value"},
                  {7, "latency_us == 1", ""}});
}

}  // namespace
}  // namespace narrowcast::test
