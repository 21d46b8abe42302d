#include "collective/pipeline/checks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace narrowcast {
namespace {

std::string_view name_of(const Codec& codec) {
  const std::string_view spec = codec.spec();
  return spec.substr(0, spec.find(':'));
}

// Sums can be rounded value by value, without a scale that others share. fp32 is its own sum.
bool is_element_wise(const Codec& codec) {
  constexpr std::string_view kNames[] = {"fp32", "fp16", "bf16", "e4m3", "e5m2", "float"};
  return std::ranges::find(kNames, name_of(codec)) != std::end(kNames);
}

void refuse(std::string_view what, std::string_view where, std::string_view instead) {
  throw Error(Fault::usage, fmt::format("{} is not possible with {}: {}", what, where, instead));
}

void check_residual(const Piece& piece, MutableFloats residual) {
  require(residual.empty() || residual.size() == piece.values.size(), Fault::usage,
          "a residual has another size than its tensor");
}

}  // namespace

void check_pieces(Pieces pieces) {
  for (const Piece& piece : pieces) {
    require(piece.codec != nullptr, Fault::usage, "a piece has no codec");
    require(std::abs(piece.exponent) <= kMaxExponent, Fault::usage,
            "an exponent is beyond what codecs scale by");
    check_residual(piece, piece.sender_residual);
    check_residual(piece, piece.owner_residual);
  }
}

void check_parts(Pieces parts, int ranks) {
  require(parts.size() == static_cast<std::size_t>(ranks), Fault::usage,
          "there must be one part for each rank");
  check_pieces(parts);
}

void check(const AllReduceRow& row, Pieces pieces, const Reduction& how) {
  check_pieces(pieces);
  require(how.group >= 0, Fault::usage, "the size of a group is negative");
  if (how.sum == Sum::kahan && !row.kahan)
    refuse("sum=kahan", row.name,
           "each hop would need the compensation of the one before; use direct");
  if (how.self == Self::exact && !row.self_exact)
    refuse(
        "self=exact", row.name,
        "each rank would end with other values than its peers; use direct, where one owner adds");
  for (const Piece& piece : pieces) {
    if (!row.owner_residual && !piece.owner_residual.empty())
      refuse("an owner's residual", row.name, "no rank owns a sum there; use direct or hierarchy");
    if (how.sum != Sum::fp32 && !is_element_wise(*piece.codec))
      refuse(how.sum == Sum::format ? "sum=format" : "sum=kahan", piece.codec->spec(),
             "its values share scales; use float, e4m3, e5m2, fp16 or bf16");
  }
}

void all_reduce(const AllReduceRow& row, Pieces pieces, const Reduction& how, Conversation& group) {
  check(row, pieces, how);
  row.run(pieces, how, group);
}

}  // namespace narrowcast
