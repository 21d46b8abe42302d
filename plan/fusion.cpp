#include "plan/plan.hpp"

namespace narrowcast {

std::vector<std::vector<std::size_t>> fuse(std::span<const std::size_t> elements,
                                           std::size_t fusion_bytes) {
  std::vector<std::vector<std::size_t>> buffers;
  std::size_t bytes = fusion_bytes;  // of the buffer that is being filled; none is
  for (std::size_t tensor = 0; tensor < elements.size(); ++tensor) {
    if (bytes >= fusion_bytes) {
      buffers.emplace_back();
      bytes = 0;
    }
    buffers.back().push_back(tensor);
    bytes += elements[tensor] * sizeof(float);
  }
  return buffers;
}

}  // namespace narrowcast
