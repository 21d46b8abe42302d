#include "exchange/engine/codecs.hpp"

#include <algorithm>

#include "base/checksum.hpp"

namespace narrowcast {

std::uint64_t id_of(const Tensor& tensor) {
  return checksum(std::as_bytes(std::span(tensor.name)));
}

const Codec& Codecs::codec(const std::string& spec, const Tensor& tensor) {
  std::unique_ptr<Codec>& found = codecs_[{spec, tensor.innermost}];
  if (!found) found = make_codec(spec, {.innermost = tensor.innermost});
  return *found;
}

const Scale& Codecs::scale(const Codec& codec, Scaling scaling, const Addends& addends) {
  const auto found = std::ranges::find_if(scales_, [&](const Scaled& each) {
    return each.codec == &codec && each.scaling == scaling && each.addends == addends;
  });
  if (found != scales_.end()) return *found->scale;
  scales_.push_back({&codec, scaling, addends, std::make_unique<Scale>(codec, scaling, addends)});
  return *scales_.back().scale;
}

}  // namespace narrowcast
