#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <span>

#include "base/json.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "data/data.hpp"

namespace narrowcast::cli {
namespace {

struct InfoWords {
  std::string what;
  bool json = false;
};

constexpr std::size_t kMostNames = 12;

std::vector<std::size_t> images_by_class(const Images& images) {
  std::vector<std::size_t> counts(static_cast<std::size_t>(images.classes()));
  for (std::size_t i = 0; i < images.size(); ++i)
    ++counts[static_cast<std::size_t>(images.label(i))];
  return counts;
}

template <class T>
JsonValue list_json(const std::vector<T>& values) {
  return json_array(std::vector<JsonValue>(values.begin(), values.end()));
}

std::string as_json(const DataSet& set) {
  const ImageShape shape = set.train->shape();
  return json_line({{"data", set.name},
                    {"train", set.train->size()},
                    {"test", set.test->size()},
                    {"channels", shape.channels},
                    {"height", shape.height},
                    {"width", shape.width},
                    {"classes", list_json(set.class_names)},
                    {"train_by_class", list_json(images_by_class(*set.train))},
                    {"mean", list_json(set.normal.mean)},
                    {"deviation", list_json(set.normal.deviation)},
                    {"fingerprint", fmt::format("{:016x}", set.fingerprint)}});
}

std::string names_text(const std::vector<std::string>& names) {
  const std::span shown(names.data(), std::min(names.size(), kMostNames));
  return fmt::format("{}: {}{}", names.size(), fmt::join(shown, ", "),
                     shown.size() < names.size() ? ", ..." : "");
}

std::string as_text(const DataSet& set) {
  const ImageShape shape = set.train->shape();
  const std::vector<std::size_t> counts = images_by_class(*set.train);
  const auto [fewest, most] = std::minmax_element(counts.begin(), counts.end());
  return fmt::format(
      "data         {}\n"
      "images       {} to train with, {} to test with\n"
      "shape        {} x {} x {}\n"
      "classes      {}\n"
      "to train     {} to {} of each class\n"
      "mean         {:.4f}\n"
      "deviation    {:.4f}\n"
      "fingerprint  {:016x}\n"
      "checked      sizes, labels and checksums\n",
      set.name, set.train->size(), set.test->size(), shape.channels, shape.height, shape.width,
      names_text(set.class_names), *fewest, *most, fmt::join(set.normal.mean, " "),
      fmt::join(set.normal.deviation, " "), set.fingerprint);
}

void show_info(const InfoWords& words, const Console& console) {
  const DataSet set = open_data({.what = words.what});
  set.train->check();
  set.test->check();
  console.out << (words.json ? as_json(set) : as_text(set));
}

}  // namespace

Action declare_data_info(Arguments& arguments) {
  const auto words = std::make_shared<InfoWords>();
  std::string names;
  for (const DataRow& row : data_sets()) names += std::string(row.name) + ", ";
  arguments.word("WHAT", words->what, names + "a folder, or a file of data pack");
  arguments.flag("--json", words->json, "One JSON object");
  return [words](const Console& console) { show_info(*words, console); };
}

}  // namespace narrowcast::cli
