#include "collective/pipeline/packing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/error.hpp"
#include "codec/parallel.hpp"

namespace narrowcast {
namespace {

using Length = std::uint32_t;

MutableFloats residual_of(const Piece& piece, const Part& part, Leftover feedback) {
  if (feedback == Leftover::none) return {};
  const MutableFloats all =
      feedback == Leftover::sender ? piece.sender_residual : piece.owner_residual;
  return all.empty() ? all : all.subspan(part.begin, part.count);
}

// The bytes of the first part in a message, and what follows it.
struct Split {
  Bytes part;
  Bytes rest;
};

Split split(const Codec& codec, const Part& part, Bytes in) {
  std::size_t bytes = codec.max_bytes(part.count);
  if (!codec.promise().fixed_size) {
    require(in.size() >= sizeof(Length), Fault::wire, "the message ends in a length");
    bytes = get<Length>(in);
    in = in.subspan(sizeof(Length));
  }
  require(in.size() >= bytes, Fault::wire, "the message is too short");
  return {in.first(bytes), in.subspan(bytes)};
}

}  // namespace

std::size_t packed_bytes(const Codec& codec, std::size_t values) {
  return codec.max_bytes(values) + (codec.promise().fixed_size ? 0 : sizeof(Length));
}

Encoding Packing::encoding(const Part& part, const Thrower& who, Leftover feedback) const {
  const Piece& piece = pieces_[part.piece];
  return {.stream = stream_of({.seed = travel_.seed,
                               .step = travel_.step,
                               .tensor = piece.tensor,
                               .rank = who.rank,
                               .stage = who.stage,
                               .hop = who.hop}),
          .first_index = part.begin,
          .exponent = piece.exponent,
          .residual = residual_of(piece, part, feedback)};
}

std::size_t Packing::pack(const Chunk& chunk, MutableBytes out, const Thrower& who,
                          Leftover feedback) const {
  const Span span(*group_, Work::encode);
  const std::size_t room = out.size();
  for (const Part& part : chunk.parts) {
    const Codec& codec = *pieces_[part.piece].codec;
    const bool fixed = codec.promise().fixed_size;
    const MutableBytes body = fixed ? out : out.subspan(sizeof(Length));
    const std::size_t used =
        encode(codec, values(part), body, encoding(part, who, feedback), group_->team());
    if (!fixed) put(out, static_cast<Length>(used));
    out = body.subspan(used);
  }
  group_->net().poke();
  return room - out.size();
}

void Packing::round(const Part& part, MutableFloats numbers, const Thrower& who) const {
  const Span span(*group_, Work::decode);
  constexpr std::size_t kStep = 4096;  // a multiple of the blocks of all formats
  std::byte bytes[kStep * sizeof(float)];
  const Codec& codec = *pieces_[part.piece].codec;
  Encoding how = encoding(part, who, Leftover::none);
  for (std::size_t i = 0; i < numbers.size(); i += kStep) {
    const MutableFloats some = numbers.subspan(i, std::min(kStep, numbers.size() - i));
    how.first_index = part.begin + i;
    const std::size_t used = codec.encode(some, bytes, how);
    codec.decode(Bytes(bytes).first(used), some, how.exponent);
  }
}

template <class Take>
void Packing::each_part(const Chunk& chunk, const Message& message, const Take& take) const {
  const Span span(*group_, Work::decode);
  try {
    Bytes left = message.bytes;
    for (const Part& part : chunk.parts) {
      const Split next = split(*pieces_[part.piece].codec, part, left);
      take(pieces_[part.piece], values(part), next.part);
      left = next.rest;
    }
    require(left.empty(), Fault::wire, "the message is too long");
    group_->net().poke();
  } catch (const Error& error) {
    if (error.fault() != Fault::wire) throw;
    throw Error(Fault::wire, fmt::format("from rank {}: {}", message.from, error.what()));
  }
}

void Packing::unpack(const Chunk& chunk, const Message& message) const {
  each_part(chunk, message, [&](const Piece& piece, MutableFloats out, Bytes in) {
    decode(*piece.codec, in, out, piece.exponent, group_->team());
  });
}

void Packing::unpack(const Chunk& chunk, const Message& message, Result result) const {
  const auto ranks = static_cast<unsigned>(group_->size());
  const MutableBytes place = as_bytes(chunk);
  if (!place.empty() && message.bytes.data() == place.data()) {
    if (message.bytes.size() != place.size())
      throw Error(Fault::wire, fmt::format("from rank {}: the message is too short", message.from));
    if (result == Result::average) divide(chunk);
    return;
  }
  if (result == Result::sum || ranks == 1) return unpack(chunk, message);
  // Halving is free: the decoder multiplies by a power of two anyway, and exactly.
  const int halvings = std::has_single_bit(ranks) ? std::countr_zero(ranks) : kMaxExponent + 1;
  each_part(chunk, message, [&](const Piece& piece, MutableFloats out, Bytes in) {
    const bool free = std::abs(piece.exponent + halvings) <= kMaxExponent;
    decode(*piece.codec, in, out, piece.exponent + (free ? halvings : 0), group_->team());
    if (free) return;
    const auto count = static_cast<float>(ranks);
    for (float& value : out) value /= count;
  });
}

void Packing::add(const Chunk& chunk, const Message& message) const {
  each_part(chunk, message, [&](const Piece& piece, MutableFloats out, Bytes in) {
    accumulate(*piece.codec, in, out, piece.exponent, group_->team());
  });
}

void Packing::unpack_to(const Chunk& chunk, const Message& message, MutableFloats out) const {
  each_part(chunk, message, [&](const Piece& piece, MutableFloats values, Bytes in) {
    decode(*piece.codec, in, out.first(values.size()), piece.exponent, group_->team());
    out = out.subspan(values.size());
  });
}

bool Packing::is_identity(const Chunk& chunk) const {
  return std::ranges::all_of(chunk.parts, [&](const Part& part) {
    const Piece& piece = pieces_[part.piece];
    return piece.codec->spec() == "fp32" && piece.exponent == 0 && piece.sender_residual.empty() &&
           piece.owner_residual.empty();
  });
}

MutableBytes Packing::as_bytes(const Chunk& chunk) const {
  if (chunk.parts.size() != 1 || !is_identity(chunk)) return {};
  return std::as_writable_bytes(values(chunk.parts[0]));
}

void Packing::divide(const Chunk& chunk) const {
  const Span span(*group_, Work::decode);
  const auto count = static_cast<float>(group_->size());
  for (const Part& part : chunk.parts)
    for (float& value : values(part)) value /= count;
}

}  // namespace narrowcast
