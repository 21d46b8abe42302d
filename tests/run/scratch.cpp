#include "tests/run/scratch.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/error.hpp"

namespace narrowcast::test {
namespace {

std::vector<Setting> settings_from(const std::vector<std::string>& words) {
  std::vector<Setting> settings;
  for (const std::string& word : words) {
    const std::string key = word.substr(0, word.find('='));
    settings.push_back({key, word.substr(key.size() + 1), "--" + key});
  }
  return settings;
}

template <class Call>
std::string message_of(Call call) {
  try {
    const Run run = call();
    ADD_FAILURE() << "was taken as\n" << to_toml(run);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage) << error.what();
    EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << error.what();
    return error.what();
  }
  return {};
}

}  // namespace

ScratchFile::ScratchFile(std::string_view text, std::string_view name) {
  static int count = 0;
  path_ = std::filesystem::path(testing::TempDir()) /
          ("narrowcast_run_" + std::to_string(getpid()) + "_" + std::to_string(count++));
  std::filesystem::create_directory(path_);
  path_ /= name;
  std::ofstream(path_, std::ios::binary) << text;
}

ScratchFile::~ScratchFile() { std::filesystem::remove_all(path_.parent_path()); }

std::vector<Setting> settings_in(std::string_view toml) {
  return read_settings(ScratchFile(toml).path());
}

Run run_of(std::string_view toml) { return resolve_run(settings_in(toml)); }

Run run_with(std::vector<std::string> settings) { return resolve_run(settings_from(settings)); }

std::string refusal(std::vector<std::string> settings) {
  return message_of([&] { return run_with(settings); });
}

std::string file_refusal(std::string_view toml) {
  const ScratchFile file(toml);
  const std::string message = message_of([&] { return resolve_run(read_settings(file.path())); });
  const std::string folder = file.path().parent_path().string() + "/";
  EXPECT_EQ(message.substr(0, folder.size()), folder);
  return message.substr(std::min(message.size(), folder.size()));
}

}  // namespace narrowcast::test
