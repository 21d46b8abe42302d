#include <fmt/core.h>

#include <charconv>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/json.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "data/data.hpp"

namespace narrowcast::cli {
namespace {

struct PackWords {
  std::string folder;
  std::string output;
  std::optional<std::string> size;
  bool json = false;
};

// A line for each hundredth.
class PackLine final : public PackProgress {
 public:
  explicit PackLine(const Console& console) : line_(console, kHundred) {}

  void packed(std::size_t images, std::size_t of) override {
    for (; shown_ < images * kHundred / of; ++shown_)
      line_.next(fmt::format("hundredths of {} images", of));
  }

 private:
  static constexpr std::size_t kHundred = 100;
  Progress line_;
  std::size_t shown_ = 0;
};

int parse_side(std::string_view digits, const std::string& text) {
  int side = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), side);
  if (error != std::errc{} || end != digits.data() + digits.size() || side < 1)
    throw Error(Fault::usage, fmt::format("'{}' is no size; 224x224 is", text));
  return side;
}

PackOrder order_of(const PackWords& words) {
  require(!words.output.empty(), Fault::usage, "data pack needs -o FILE");
  PackOrder order = {.folder = words.folder, .file = words.output};
  if (!words.size) return order;
  const std::string_view size = *words.size;
  const std::size_t cross = std::min(size.find('x'), size.size());
  order.height = parse_side(size.substr(0, cross), *words.size);
  order.width = parse_side(size.substr(std::min(cross + 1, size.size())), *words.size);
  return order;
}

std::string as_json(const Packed& packed, const std::string& file) {
  return json_line({{"file", file},
                    {"bytes", packed.bytes},
                    {"train", packed.images - packed.test_images},
                    {"test", packed.test_images},
                    {"channels", packed.shape.channels},
                    {"height", packed.shape.height},
                    {"width", packed.shape.width},
                    {"classes", packed.classes.size()}});
}

std::string as_text(const Packed& packed, const std::string& file) {
  return fmt::format(
      "{}: {} images of {}x{} to train with and {} to test with, {} classes, {} bytes\n", file,
      packed.images - packed.test_images, packed.shape.height, packed.shape.width,
      packed.test_images, packed.classes.size(), packed.bytes);
}

void pack_folder(const PackWords& words, const Console& console) {
  const PackOrder order = order_of(words);
  const Packed packed = [&] {
    PackLine line(console);
    return pack(order, line);
  }();
  console.out << (words.json ? as_json(packed, words.output) : as_text(packed, words.output));
}

}  // namespace

Action declare_data_pack(Arguments& arguments) {
  const auto words = std::make_shared<PackWords>();
  arguments.word("DIR", words->folder,
                 "A folder of class folders of JPEGs, or one with such folders train/ and val/ or "
                 "test/; otherwise every tenth image is for tests");
  arguments.option("-o,--output FILE", words->output, "The file to write");
  arguments.option("--size HxW", words->size,
                   "Scale the shorter side and crop the middle; else all images must be alike");
  arguments.flag("--json", words->json, "One JSON object");
  return [words](const Console& console) { pack_folder(*words, console); };
}

}  // namespace narrowcast::cli
