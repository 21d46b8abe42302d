#include "collective/pipeline/adding.hpp"

#include <algorithm>

#include "codec/compensated.hpp"

namespace narrowcast {
// Every rounding of a sum has dice of its own, and all ranks that make it throw the same.
Thrower Adding::rounding(std::uint32_t which) const {
  return {.rank = level_, .stage = Stage::hop, .hop = count_ * 4 + which};
}

void Adding::add(const Chunk& chunk, const Message& message) {
  if (count_ == 0) {
    packing_.unpack(chunk, message);
    if (sum_ == Sum::kahan) compensation_.assign(chunk.values, 0);
  } else if (sum_ == Sum::fp32) {
    packing_.add(chunk, message);  // in one pass
  } else {
    addends_.resize(chunk.values);
    packing_.unpack_to(chunk, message, addends_);
    add_floats(chunk, addends_);
  }
  ++count_;
}

void Adding::keep(const Chunk& chunk) {
  kept_.clear();
  for (const Part& part : chunk.parts) {
    const MutableFloats values = packing_.values(part);
    kept_.insert(kept_.end(), values.begin(), values.end());
    const MutableFloats all = packing_.pieces()[part.piece].sender_residual;
    if (all.empty()) continue;
    const MutableFloats residual = all.subspan(part.begin, part.count);
    const std::size_t first = kept_.size() - part.count;
    for (std::size_t i = 0; i < part.count; ++i) kept_[first + i] += residual[i];
    std::fill(residual.begin(), residual.end(), 0.0F);
  }
}

void Adding::add_kept(const Chunk& chunk) {
  if (count_ == 0) {
    Floats left = kept_;
    for (const Part& part : chunk.parts) {
      const MutableFloats values = packing_.values(part);
      std::copy_n(left.begin(), part.count, values.begin());
      left = left.subspan(part.count);
    }
    if (sum_ == Sum::kahan) compensation_.assign(chunk.values, 0);
  } else {
    add_floats(chunk, kept_);
  }
  ++count_;
}

void Adding::add_floats(const Chunk& chunk, MutableFloats addends) {
  MutableFloats compensation = compensation_;
  for (const Part& part : chunk.parts) {
    const MutableFloats some = addends.first(part.count);
    const MutableFloats sums = packing_.values(part);
    if (sum_ == Sum::kahan) {
      add_compensated(part, some, compensation.first(part.count));
      compensation = compensation.subspan(part.count);
    } else {
      for (std::size_t i = 0; i < part.count; ++i) sums[i] += some[i];
      if (sum_ == Sum::format) packing_.round(part, sums, rounding(0));
    }
    addends = addends.subspan(part.count);
  }
}

void Adding::add_compensated(const Part& part, MutableFloats addends,
                             MutableFloats compensation) const {
  std::vector<float> next(part.count);
  narrowcast::add_compensated(
      {.sum = packing_.values(part), .rest = compensation, .addend = addends, .next = next},
      [&](MutableFloats values, std::uint32_t which) {
        packing_.round(part, values, rounding(which));
      });
}

}  // namespace narrowcast
