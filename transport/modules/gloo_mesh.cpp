#include "transport/modules/gloo_mesh.hpp"

#include <fmt/core.h>
#include <gloo/transport/context.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "transport/modules/gloo_board.hpp"
#include "transport/modules/gloo_interface.hpp"
#include "transport/sealing/keys.hpp"

namespace narrowcast::over_gloo {
namespace {

// What a rank leaves for the others: its token, and for each of them the address of the socket that
// waits for that one, all equally long.
struct Card {
  Token token = {};
  std::vector<std::vector<char>> addresses;  // by rank; its own is empty
};

std::string key_of(int rank) { return fmt::format("rank {}", rank); }

Blob blob_of(const Card& card) {
  Blob out(card.token.begin(), card.token.end());
  for (const std::vector<char>& address : card.addresses) {
    const Bytes bytes = std::as_bytes(std::span(address));
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

// The address under which `owner` waits for `rank`.
std::vector<char> address_for(int rank, int owner, int size, Bytes card) {
  const std::size_t all = card.size() - std::min(card.size(), sizeof(Token));
  const auto count = static_cast<std::size_t>(size - 1);
  if (all == 0 || all % count != 0)
    throw Error(Fault::wire, fmt::format("rank {} left no addresses for {} ranks", owner, size));
  const std::size_t each = all / count;
  const std::size_t place = static_cast<std::size_t>(rank < owner ? rank : rank - 1);
  const Bytes bytes = card.subspan(sizeof(Token) + place * each, each);
  const auto* const first = reinterpret_cast<const char*>(bytes.data());
  return {first, first + each};
}

std::string list_of(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) text += i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  return text;
}

double seconds(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

// The cards of all, before anybody connects: so whoever has connected needs the board no more.
std::vector<Blob> collect_cards(const Joining& joining, Board& board, Clock::time_point deadline) {
  std::vector<Blob> cards(joining.place.size);
  std::vector<int> missing;
  for (int rank = 0; rank < joining.place.size; ++rank) {
    std::optional<Blob> card = board.look_for(key_of(rank), deadline);
    if (card)
      cards[rank] = *std::move(card);
    else
      missing.push_back(rank);
  }
  if (!missing.empty())
    throw Error(Fault::peer, fmt::format("{} did not come within {:g} s", list_of(missing),
                                         seconds(joining.timeout)));
  return cards;
}

// Gloo's context keeps to itself what it is made of.
class Context final : public gloo::Context {
 public:
  Context(const Place& place, std::shared_ptr<gloo::transport::Device> device,
          std::shared_ptr<gloo::transport::Context> connections)
      : gloo::Context(place.rank, place.size) {
    device_ = std::move(device);
    transportContext_ = std::move(connections);
  }
};

std::shared_ptr<gloo::transport::Device> make_device(const Interface& chosen) {
  gloo::transport::tcp::attr attributes;
  attributes.iface = chosen.name;
  attributes.hostname = chosen.address;
  try {
    return gloo::transport::tcp::CreateDevice(attributes);
  } catch (const std::exception& error) {
    throw Error(Fault::system,
                fmt::format("Gloo cannot use {}{}: {}", chosen.name, chosen.address, error.what()));
  }
}

// Those that cannot be reached, and why. All at the same time: one that never answers keeps nobody
// from the others.
std::map<int, std::string> connect_all(const Place& own, gloo::transport::Context& connections,
                                       const std::vector<Blob>& cards) {
  std::mutex mutex;
  std::map<int, std::string> unreached;
  const auto connect = [&](int peer, const std::vector<char>& address) {
    try {
      connections.getPair(peer)->connect(address);
    } catch (const std::exception& error) {
      const std::lock_guard lock(mutex);
      unreached[peer] = error.what();
    }
  };
  std::vector<std::jthread> connecting;
  for (int peer = 0; peer < own.size; ++peer)
    if (peer != own.rank)
      connecting.emplace_back(connect, peer, address_for(own.rank, peer, own.size, cards[peer]));
  connecting.clear();  // waits for all
  return unreached;
}

}  // namespace

Mesh connect_mesh(const Joining& joining, Board& board, Clock::time_point deadline) {
  const Place& own = joining.place;
  const MeetingPlace place = parse_meeting_place(joining.rendezvous);
  const auto device = make_device(choose_interface(joining, place));
  const auto connections = device->createContext(own.rank, own.size);
  // Gloo gives connecting five times as long.
  connections->setTimeout(std::max(joining.timeout / 5, std::chrono::milliseconds(1)));
  Card card;
  sealing::start_sodium();
  sealing::fill_with_random(card.token);
  for (int peer = 0; peer < own.size; ++peer)
    if (peer != own.rank)
      card.addresses.push_back(connections->createPair(peer)->address().bytes());
  board.leave(key_of(own.rank), blob_of(card));
  const std::vector<Blob> cards = collect_cards(joining, board, deadline);
  if (cards.front().size() < sizeof(Token)) throw Error(Fault::wire, "rank 0 left no token");
  std::map<int, std::string> unreached = connect_all(own, *connections, cards);
  return {.context = std::make_shared<Context>(own, device, connections),
          .token = get<Token>(cards.front()),
          .unreached = std::move(unreached)};
}

}  // namespace narrowcast::over_gloo
