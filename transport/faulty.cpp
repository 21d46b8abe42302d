#include "transport/faulty.hpp"

#include <fmt/core.h>

#include <array>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "transport/latch.hpp"

namespace narrowcast {
namespace {

struct Letter {
  std::vector<std::byte> message;
  Stamp stamp = {};
};

// Which throw of a message's dice decides what.
constexpr std::uint64_t kChoice = 0;
constexpr std::uint64_t kExtent = 1;

Stream dice_of(const Mischief& mischief, int rank, const Slot& to) {
  return stream_of({.seed = mischief.seed,
                    .step = to.sequence,
                    .tensor = to.channel,
                    .rank = static_cast<std::uint32_t>(rank),
                    .hop = static_cast<std::uint32_t>(to.peer)});
}

std::array<std::pair<Deed, double>, 6> odds(const Mischief& mischief) {
  return {{{Deed::drop, mischief.drop},
           {Deed::delay, mischief.delay},
           {Deed::truncate, mischief.truncate},
           {Deed::flip, mischief.flip},
           {Deed::repeat, mischief.repeat},
           {Deed::kill, mischief.kill}}};
}

// `fraction` of `whole`, rounded down; less than `whole` unless that is nothing.
std::size_t part(std::size_t whole, double fraction) {
  return static_cast<std::size_t>(static_cast<double>(whole) * fraction);
}

void flip_a_bit(Letter& letter, double where) {
  const std::size_t length = letter.message.size();
  const std::size_t bit = part((length + letter.stamp.size()) * 8, where);
  std::byte& victim = bit / 8 < length ? letter.message[bit / 8] : letter.stamp[bit / 8 - length];
  victim ^= std::byte{1} << bit % 8;
}

class Faulty final : public Transport {
 public:
  Faulty(std::unique_ptr<Transport> inner, const Mischief& mischief)
      : mischief_(mischief), rank_(inner->rank()), size_(inner->size()), inner_(std::move(inner)) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void poke() override { alive()->poke(); }
  void engine_all_reduce(MutableFloats values) override { alive()->engine_all_reduce(values); }

  // The inner transport, kept for as long as the caller holds it.
  std::shared_ptr<Transport> alive() {
    const std::lock_guard lock(mutex_);
    latch_.check();
    return inner_;
  }

 private:
  std::unique_ptr<Transfer> do_send(const Slot& to, Bytes message, const Stamp& stamp) override;
  std::unique_ptr<Transfer> do_receive(const Slot& from, MutableBytes buffer) override;
  std::unique_ptr<Transfer> send_altered(const Slot& to, Letter letter, const Arrival& pretended);

  void die() {
    latch_.fail(Error(Fault::peer, fmt::format("rank {} was killed", rank_)));
    const std::lock_guard lock(mutex_);
    inner_.reset();
  }

  // The message before this one, which from now on is the one before.
  Letter remember(const Slot& to, const Letter& letter) {
    const std::lock_guard lock(mutex_);
    const auto [place, first] = last_.try_emplace({to.peer, to.channel}, letter);
    return first ? letter : std::exchange(place->second, letter);
  }

  const Mischief mischief_;
  const int rank_;
  const int size_;
  Latch latch_;
  std::mutex mutex_;
  std::shared_ptr<Transport> inner_;
  std::map<std::pair<int, Channel>, Letter> last_;  // kept only where messages are repeated
};

// A transfer that ends with the rank's life.
class Mortal final : public Transfer {
 public:
  Mortal(Faulty& rank, Ticket ticket) : rank_(rank), ticket_(std::move(ticket)) {}

  Arrival wait() override {
    const std::shared_ptr<Transport> inner = rank_.alive();
    const Arrival arrival = ticket_.wait();
    rank_.alive();
    return arrival;
  }

 private:
  Faulty& rank_;
  Ticket ticket_;
};

// Something else is on its way, or nothing at all; the sender sees what it expects to see.
class Pretending final : public Transfer {
 public:
  Pretending(Letter letter, const Arrival& pretended)
      : letter_(std::move(letter)), pretended_(pretended) {}

  const Letter& letter() const { return letter_; }
  void follow(std::unique_ptr<Mortal> real) { real_ = std::move(real); }

  Arrival wait() override {
    if (real_) real_->wait();
    return pretended_;
  }

 private:
  Letter letter_;
  Arrival pretended_;
  std::unique_ptr<Mortal> real_;  // below the letter, so that it goes first
};

std::unique_ptr<Transfer> Faulty::send_altered(const Slot& to, Letter letter,
                                               const Arrival& pretended) {
  auto transfer = std::make_unique<Pretending>(std::move(letter), pretended);
  const Letter& sent = transfer->letter();
  transfer->follow(std::make_unique<Mortal>(*this, alive()->send(to, sent.message, sent.stamp)));
  return transfer;
}

std::unique_ptr<Transfer> Faulty::do_send(const Slot& to, Bytes message, const Stamp& stamp) {
  const Deed deed = deed_of(mischief_, rank_, to);
  const double extent = uniform(dice_of(mischief_, rank_, to), kExtent);
  const Arrival pretended = {message.size(), stamp};
  Letter letter = {{message.begin(), message.end()}, stamp};
  Letter before = mischief_.repeat > 0 ? remember(to, letter) : Letter{};
  switch (deed) {
    case Deed::none:
      break;
    case Deed::drop:
      alive();
      return std::make_unique<Pretending>(Letter{}, pretended);
    case Deed::delay:
      std::this_thread::sleep_for(mischief_.longest_delay * extent);
      break;
    case Deed::truncate:
      letter.message.resize(part(message.size(), extent));
      return send_altered(to, std::move(letter), pretended);
    case Deed::flip:
      flip_a_bit(letter, extent);
      return send_altered(to, std::move(letter), pretended);
    case Deed::repeat:
      return send_altered(to, std::move(before), pretended);
    case Deed::kill:
      die();
      break;
  }
  return std::make_unique<Mortal>(*this, alive()->send(to, message, stamp));
}

std::unique_ptr<Transfer> Faulty::do_receive(const Slot& from, MutableBytes buffer) {
  return std::make_unique<Mortal>(*this, alive()->receive(from, buffer));
}

}  // namespace

Deed deed_of(const Mischief& mischief, int rank, const Slot& to) {
  double left = uniform(dice_of(mischief, rank, to), kChoice);
  for (const auto& [deed, probability] : odds(mischief)) {
    if (left < probability) return deed;
    left -= probability;
  }
  return Deed::none;
}

std::unique_ptr<Transport> faulty(std::unique_ptr<Transport> inner, const Mischief& mischief) {
  double sum = 0;
  for (const auto& [deed, probability] : odds(mischief)) {
    require(probability >= 0, Fault::usage, "a probability cannot be negative");
    sum += probability;
  }
  require(sum <= 1 + 1e-9, Fault::usage, "the probabilities of mischief add up to more than one");
  return std::make_unique<Faulty>(std::move(inner), mischief);
}

}  // namespace narrowcast
