#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "codec/codec.hpp"
#include "collective/conversation.hpp"

// The face of this room: sums and copies of floats over all ranks, encoded on the way.
//
// The law of this room: every rank ends with the same bits. Whoever has the exact values decodes
// its own message like everybody else, and what is added is added in a fixed order.
namespace narrowcast {

// One tensor of a call. All ranks pass the same list: ids, sizes, codecs and exponents are equal,
// only values and residuals differ. Blocks start anew at each piece, so what is fused with what
// changes no result.
struct Piece {
  std::uint64_t tensor = 0;  // whose dice are thrown, and where its shards begin
  MutableFloats values;      // in: this rank's share; out: the result
  const Codec* codec = nullptr;
  int exponent = 0;                    // what travels is x * 2^exponent
  MutableFloats sender_residual = {};  // error feedback of what this rank encodes; may be empty
  MutableFloats owner_residual = {};   // of sums that this rank encodes again; may be empty
};
using Pieces = std::span<const Piece>;

enum class Sum {
  fp32,    // decoded values are added in float32
  format,  // and each sum is rounded to the codec's own format
  kahan,   // the same, with a compensation term that is kept in the format too
};
enum class Self { encoded, exact };  // a rank's own share: as the others see it, or as it is
enum class Result { sum, average };

// How values travel; equal on all ranks.
struct Travel {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  // The most values in one message. Smaller ones overlap better, larger ones cost less each; no
  // result depends on it.
  std::size_t chunk = std::size_t{256} << 10;
};

// How to reduce; equal on all ranks.
struct Reduction {
  Travel travel = {};
  Sum sum = Sum::fp32;
  Self self = Self::encoded;
  Result result = Result::sum;
  int group = 0;  // hierarchy: neighbouring ranks that share a machine; 0: all of them
};

enum class Level { machine, network };  // within a group of the hierarchy, or anywhere

// What one rank does in one phase of a collective, over all its rounds.
struct Phase {
  Level level = Level::network;
  std::size_t rounds = 0;    // messages that wait for each other, one after the other
  std::size_t messages = 0;  // sent by this rank
  std::size_t bytes = 0;     // sent by this rank: exact for fixed-size codecs, else the most
  std::size_t encoded = 0;   // values
  std::size_t decoded = 0;
  std::size_t added = 0;
};

struct Traffic {
  std::vector<Phase> phases;
  std::size_t messages() const;
  std::size_t bytes() const;
};

// An all-reduce exists when it has a row in collective/catalogue.cpp.
struct AllReduceRow {
  std::string_view name;
  std::string_view summary;
  bool owner_residual = false;  // sums are encoded again by one owner, who may keep the error
  bool kahan = false;
  bool self_exact = false;
  void (*run)(Pieces, const Reduction&, Conversation&) = nullptr;
  // Of the pieces only sizes and codecs matter here.
  Traffic (*traffic)(Pieces, const Reduction&, int rank, int ranks) = nullptr;
};

std::span<const AllReduceRow> all_reduces();
const AllReduceRow& all_reduce_row(std::string_view name);  // Fault::usage lists the names

// Fault::usage when this algorithm cannot do what is asked, with what would.
void check(const AllReduceRow& row, Pieces pieces, const Reduction& how);

// Replaces every piece by its sum (or average) over all ranks. Scratch memory for messages is at most
// one encoded copy of all pieces and two chunks, and is kept for the next call; a codec that may not
// be cut (block 0) travels as one message for each tensor, however large. An error leaves the values
// unspecified.
void all_reduce(const AllReduceRow& row, Pieces pieces, const Reduction& how, Conversation& group);

// Values of a piece, one after the other.
struct Shard {
  std::size_t begin = 0;
  std::size_t count = 0;
};

// Those whose sum this rank encodes again, in rows with `owner_residual`. Of the piece only id, size
// and codec matter.
Shard owned(const Piece& piece, int rank, int ranks);

// What a link costs, equal on all ranks.
struct LinkCost {
  struct Path {
    double message_us = 0;  // before the first byte
    double byte_us = 0;
  };
  Path machine;
  Path network;
  double encode_us = 0;  // a value
  double decode_us = 0;  // a value, added or not
};

// How long the slowest rank would take.
double estimate_us(const AllReduceRow& row, Pieces pieces, const Reduction& how,
                   const LinkCost& cost, int ranks);

// `auto`: the quickest of those that can do what is asked.
const AllReduceRow& choose_all_reduce(Pieces pieces, const Reduction& how, const LinkCost& cost,
                                      int ranks);

// The largest of each byte over all ranks, in as many rounds as the binary logarithm of their number.
void all_max(std::span<std::uint8_t> values, Conversation& group);
Traffic all_max_traffic(std::size_t values, int ranks);

// parts[r] is what rank r has; afterwards every rank has all of them, with equal bits.
void all_gather(Pieces parts, const Travel& travel, Conversation& group);
Traffic all_gather_traffic(Pieces parts, const Travel& travel, int rank, int ranks);

// parts[r] of all ranks is summed at rank r, in float32 and rank order; the others' parts stay.
void reduce_scatter(Pieces parts, const Travel& travel, Conversation& group);
Traffic reduce_scatter_traffic(Pieces parts, const Travel& travel, int rank, int ranks);

// Every rank gets what `root` has, which afterwards has it with the same bits.
void broadcast(Pieces pieces, int root, const Travel& travel, Conversation& group);
// `place`: how far a rank is from the root.
Traffic broadcast_traffic(Pieces pieces, const Travel& travel, int place, int ranks);

// Sends one list of pieces while receiving another; either may be empty. What is sent stays as it
// is.
struct Crossing {
  Pieces out = {};
  int to = 0;
  Pieces in = {};
  int from = 0;
};
void send_receive(const Crossing& crossing, const Travel& travel, Conversation& group);
Traffic send_traffic(Pieces out, const Travel& travel);

}  // namespace narrowcast
