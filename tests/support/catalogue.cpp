#include "tests/support/catalogue.hpp"

namespace narrowcast::test {

std::vector<std::string> every_spec() {
  std::vector<std::string> specs;
  for (const CodecRow& row : codecs())
    for (const std::string_view variant : row.variants) specs.emplace_back(variant);
  return specs;
}

}  // namespace narrowcast::test
