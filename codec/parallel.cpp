#include "codec/parallel.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "codec/kernel/kernels.hpp"

namespace narrowcast {
namespace {

// One share for each thread, cut at block borders.
class Shares {
 public:
  Shares(const Codec& codec, std::size_t values, int threads) : values_(values), width_(values) {
    const Promise& promise = codec.promise();
    if (promise.block == 0 || !promise.fixed_size || threads == 1) return;
    // Shares of whole pages of floats where blocks allow: threads that write to one cache line
    // would slow each other down.
    const std::size_t unit = promise.block * std::max<std::size_t>(1, 4096 / promise.block);
    const std::size_t units = (values + unit - 1) / unit;
    width_ =
        (units + static_cast<std::size_t>(threads) - 1) / static_cast<std::size_t>(threads) * unit;
  }

  std::size_t begin(int i) const { return std::min(values_, width_ * static_cast<std::size_t>(i)); }
  std::size_t count(int i) const { return begin(i + 1) - begin(i); }

 private:
  std::size_t values_;
  std::size_t width_;
};

template <class Work>
void each_share(const Codec& codec, std::size_t values, Team& team, Work work) {
  const Shares shares(codec, values, team.size());
  if (shares.count(0) == values) return work(0, values);
  team.run([&](int i) {
    if (shares.count(i) > 0) work(shares.begin(i), shares.count(i));
  });
}

// The message of a share. The whole one is as long as a codec that may be cut promises, or it is
// left to the codec to refuse.
Bytes message(const Codec& codec, Bytes in, std::size_t begin, std::size_t count, std::size_t all) {
  if (count == all) return in;
  require(in.size() == codec.max_bytes(all), Fault::wire, "decode: message has the wrong length");
  return in.subspan(codec.max_bytes(begin), codec.max_bytes(count));
}

bool acceptable(Floats values) {
  return std::isfinite(kernel::active().absmax(values.data(), values.size()));
}

}  // namespace

std::size_t encode(const Codec& codec, Floats in, MutableBytes out, const Encoding& how,
                   Team& team) {
  std::size_t used = codec.max_bytes(in.size());
  require(out.size() >= used, Fault::usage, "encode: output has no room for max_bytes(values)");
  require(how.residual.empty() || how.residual.size() == in.size(), Fault::usage,
          "encode: residual needs one float for each value");
  // What is refused is refused before any thread has written, by the codec, which sees all of it.
  if (codec.promise().non_finite == NonFinite::refuses_nan &&
      !(acceptable(in) && acceptable(how.residual)))
    return codec.encode(in, out, how);
  each_share(codec, in.size(), team, [&](std::size_t begin, std::size_t count) {
    Encoding part = how;
    part.first_index += begin;
    if (!how.residual.empty()) part.residual = how.residual.subspan(begin, count);
    if (count == in.size())
      used = codec.encode(in, out, part);
    else
      codec.encode(in.subspan(begin, count),
                   out.subspan(codec.max_bytes(begin), codec.max_bytes(count)), part);
  });
  return used;
}

void decode(const Codec& codec, Bytes in, MutableFloats out, int exponent, Team& team) {
  each_share(codec, out.size(), team, [&](std::size_t begin, std::size_t count) {
    codec.decode(message(codec, in, begin, count, out.size()), out.subspan(begin, count), exponent);
  });
}

void accumulate(const Codec& codec, Bytes in, MutableFloats sum, int exponent, Team& team) {
  each_share(codec, sum.size(), team, [&](std::size_t begin, std::size_t count) {
    codec.accumulate(message(codec, in, begin, count, sum.size()), sum.subspan(begin, count),
                     exponent);
  });
}

}  // namespace narrowcast
