// Activations and error gradients between two ranks: one list goes out while another comes in.
#include "base/error.hpp"
#include "collective/pipeline/boxes.hpp"
#include "collective/pipeline/checks.hpp"

namespace narrowcast {
namespace {

void check_peer(Pieces pieces, int peer, int ranks) {
  require(pieces.empty() || (peer >= 0 && peer < ranks), Fault::usage,
          "who is to be sent to or received from is not among the ranks");
}

}  // namespace

void send_receive(const Crossing& crossing, const Travel& travel, Conversation& group) {
  check_pieces(crossing.out);
  check_pieces(crossing.in);
  check_peer(crossing.out, crossing.to, group.size());
  check_peer(crossing.in, crossing.from, group.size());
  const Layout out_layout = Layout::whole(crossing.out, travel.chunk);
  const Layout in_layout = Layout::whole(crossing.in, travel.chunk);
  const Packing out_packing(crossing.out, travel, group);
  const Packing in_packing(crossing.in, travel, group);
  const Demand demands[] = {{1, 3}, {1, 3}};
  const Layout& larger = out_layout.largest() > in_layout.largest() ? out_layout : in_layout;
  const std::vector<Buffers> shares =
      share(group, larger, demands,
            allowance(crossing.out, out_layout, travel) + in_layout.extent().bytes);
  Outbox out(group, 0, shares[0]);
  Inbox in(group, 0, shares[1]);

  const std::span<const Chunk> leaving = out_layout.shard(0);
  const std::span<const Chunk> coming = in_layout.shard(0);
  const Thrower me{.rank = static_cast<std::uint32_t>(group.rank())};
  for (const Chunk& chunk : coming) in.expect(crossing.from, chunk.max_bytes);
  for (std::size_t i = 0; i < std::max(leaving.size(), coming.size()); ++i) {
    if (i < leaving.size())
      out.send(crossing.to, out_packing.pack(leaving[i], out.next(), me, Leftover::sender));
    if (i < coming.size()) in_packing.unpack(coming[i], in.next());
    in.release();
  }
  out.drain();
}

Traffic send_traffic(Pieces out, const Travel& travel) {
  const Extent all = Layout::whole(out, travel.chunk).extent();
  return {{{.rounds = 1, .messages = all.chunks, .bytes = all.bytes, .encoded = all.values}}};
}

}  // namespace narrowcast
