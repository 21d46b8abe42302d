#include <gtest/gtest.h>

#include <bit>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "codec/frame.hpp"
#include "tests/support/catalogue.hpp"
#include "tests/support/check.hpp"
#include "tests/support/places.hpp"

// Bytes that were written once (tests/golden/write) and may never change: messages and checkpoints
// out there hold them.
namespace narrowcast::test {
namespace {

const std::filesystem::path kGolden = golden_folder();
constexpr std::string_view kSpecials = ".specials.frame";

std::vector<std::byte> bytes_of(const std::string& name) {
  std::ifstream file(kGolden / name, std::ios::binary);
  EXPECT_TRUE(file) << name << " is missing: write it with tests/golden/write";
  const std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
  const Bytes bytes = std::as_bytes(std::span(chars));
  return {bytes.begin(), bytes.end()};
}

std::vector<float> floats_of(const std::string& name) {
  const std::vector<std::byte> bytes = bytes_of(name);
  std::vector<float> values(bytes.size() / sizeof(float));
  copy(bytes, std::as_writable_bytes(std::span(values)));
  return values;
}

std::vector<float> input_of(const std::string& frame) {
  return floats_of(frame.ends_with(kSpecials) ? "specials.f32" : "input.f32");
}

std::vector<std::string> frames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kGolden))
    if (entry.path().extension() == ".frame") names.push_back(entry.path().filename());
  return names;
}

// FNV-1a of the floats, all NaNs made alike; tests/golden/write computes the same.
std::uint64_t hash_of(Floats values) {
  std::uint64_t state = 0xcbf29ce484222325;
  for (const float value : values) {
    const std::uint32_t bits =
        std::isnan(value) ? 0x7fc00000u : std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8)
      state = (state ^ (bits >> shift & 0xff)) * 0x100000001b3;
  }
  return state;
}

std::map<std::string, std::uint64_t> recorded_hashes() {
  std::map<std::string, std::uint64_t> hashes;
  std::ifstream file(kGolden / "decoded.txt");
  std::string name, hash;
  while (file >> name >> hash) hashes[name] = std::stoull(hash, nullptr, 16);
  return hashes;
}

std::string slug(std::string_view spec) {
  std::string slug;
  for (const char c : spec)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      slug += c;
    else if (!slug.ends_with('-'))
      slug += '-';
  return slug;
}

TEST(GoldenFiles, ExistForEveryCodec) {
  for_every_codec([](const Codec& codec) {
    EXPECT_TRUE(std::filesystem::exists(kGolden / (slug(codec.spec()) + ".frame")));
    const bool has_specials =
        std::filesystem::exists(kGolden / (slug(codec.spec()) + std::string(kSpecials)));
    EXPECT_EQ(has_specials, codec.promise().non_finite != NonFinite::refuses_nan);
  });
}

TEST(GoldenFiles, AreStillWhatIsWritten) {
  for (const std::string& name : frames()) {
    SCOPED_TRACE(name);
    const std::vector<std::byte> golden = bytes_of(name);
    const auto codec = make_codec(read_frame(golden).spec);
    const Encoding how{.stream = stream_of({.seed = 1})};
    EXPECT_TRUE(same_bytes(write_frame(*codec, input_of(name), how), golden));
  }
}

TEST(GoldenFiles, StillDecodeToTheSameValues) {
  const std::map<std::string, std::uint64_t> hashes = recorded_hashes();
  for (const std::string& name : frames()) {
    ASSERT_TRUE(hashes.contains(name)) << name;
    EXPECT_EQ(hash_of(decode_frame(bytes_of(name))), hashes.at(name)) << name;
  }
}

TEST(GoldenFiles, KeepThePromisesOfTheirCodecs) {
  for (const std::string& name : frames()) {
    SCOPED_TRACE(name);
    const std::vector<std::byte> golden = bytes_of(name);
    const auto codec = make_codec(read_frame(golden).spec);
    const std::vector<float> x = input_of(name);
    const std::vector<float> out = decode_frame(golden);
    EXPECT_TRUE(keeps_error_promise(*codec, x, out));
    EXPECT_TRUE(keeps_non_finite_promise(*codec, x, out));
  }
}

}  // namespace
}  // namespace narrowcast::test
