#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "codec/codec.hpp"
#include "codec/scale.hpp"
#include "exchange/exchange.hpp"

namespace narrowcast {

// The same tensor has the same id in every exchange, whatever its place: dice and owners follow it.
std::uint64_t id_of(const Tensor& tensor);

// Codecs and scales, each made once.
class Codecs {
 public:
  const Codec& codec(const std::string& spec, const Tensor& tensor);
  const Scale& scale(const Codec& codec, Scaling scaling, const Addends& addends);

 private:
  std::map<std::pair<std::string, std::optional<std::size_t>>, std::unique_ptr<Codec>> codecs_;
  struct Scaled {
    const Codec* codec;
    Scaling scaling;
    Addends addends;
    std::unique_ptr<Scale> scale;
  };
  std::vector<Scaled> scales_;
};

}  // namespace narrowcast
