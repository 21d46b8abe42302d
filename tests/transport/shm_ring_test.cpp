#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "transport/shm/ring.hpp"

namespace narrowcast::test {
namespace {

struct Ends {
  explicit Ends(std::size_t bytes) : memory(bytes) {}
  shm::RingControl control = {};
  std::atomic<std::uint32_t> bell = 0;
  std::vector<std::byte> memory;
  shm::RingWriter writer{control, memory, {shm::Bell(bell), 0}};
  shm::RingReader reader{control, memory, {shm::Bell(bell), 1}};
};

std::byte byte_at(std::uint64_t i) { return static_cast<std::byte>(i * 167 ^ i >> 7); }

TEST(ShmRing, IsFullAfterAllItsBytesAndEmptyAfterThoseWereRead) {
  Ends ring(4096);
  EXPECT_EQ(ring.writer.room(), 4096u);
  EXPECT_EQ(ring.reader.available(), 0u);
  const std::vector<std::byte> bytes(4096, std::byte{9});
  ring.writer.write(bytes);
  EXPECT_EQ(ring.reader.available(), 0u) << "seen before it was published";
  ring.writer.publish();
  EXPECT_EQ(ring.writer.room(), 0u);
  EXPECT_EQ(ring.reader.available(), 4096u);
  std::vector<std::byte> out(4096);
  ring.reader.read(out);
  EXPECT_EQ(out, bytes);
  EXPECT_EQ(ring.writer.room(), 0u) << "free before it was released";
  ring.reader.release();
  EXPECT_EQ(ring.writer.room(), 4096u);
}

TEST(ShmRing, StartsEveryMessageAtACell) {
  Ends ring(4096);
  ring.writer.write(std::vector<std::byte>(1, std::byte{1}));
  ring.writer.write(std::vector<std::byte>(65, std::byte{2}));
  ring.writer.publish();
  EXPECT_EQ(ring.reader.available(), 3 * shm::kCell);
  std::byte first[1];
  std::byte second[65];
  ring.reader.read(first);
  ring.reader.read(second);
  EXPECT_EQ(first[0], std::byte{1});
  EXPECT_TRUE(std::ranges::all_of(second, [](std::byte b) { return b == std::byte{2}; }));
}

// One thread writes, one reads, in parts of random sizes, many times around.
TEST(ShmRing, CarriesAStreamBetweenTwoThreads) {
  constexpr std::uint64_t kTotal = 2'000'000 / shm::kCell * shm::kCell;
  Ends ring(4096);
  const Stream dice = stream_of({.seed = 3});
  const auto part = [&](std::uint64_t turn, std::size_t most) {
    return std::min<std::size_t>(most, (random16(dice, turn) % 40 + 1) * shm::kCell);
  };
  std::thread writing([&] {
    std::vector<std::byte> bytes;
    for (std::uint64_t at = 0, turn = 0; at < kTotal; ++turn) {
      const std::size_t room = std::min<std::uint64_t>(ring.writer.room(), kTotal - at);
      bytes.resize(part(turn, room));
      for (std::byte& byte : bytes) byte = byte_at(at++);
      if (bytes.empty()) std::this_thread::yield();
      ring.writer.write(bytes);
      ring.writer.publish();
    }
  });
  std::uint64_t wrong = 0;
  std::vector<std::byte> bytes;
  for (std::uint64_t at = 0, turn = 1'000'000; at < kTotal; ++turn) {
    bytes.resize(part(turn, ring.reader.available()));
    if (bytes.empty()) std::this_thread::yield();
    ring.reader.read(bytes);
    ring.reader.release();
    for (const std::byte byte : bytes) wrong += byte == byte_at(at++) ? 0 : 1;
  }
  writing.join();
  EXPECT_EQ(wrong, 0u);
}

// Two threads take turns; a wake-up that gets lost stops both.
TEST(ShmBell, WakesWhoeverSleepsWhenThereIsNews) {
  constexpr int kTurns = 20'000;
  std::atomic<std::uint32_t> words[2] = {};
  std::atomic<int> turn = 0;
  const auto play = [&](int who) {
    shm::Bell own(words[who]);
    shm::Bell other(words[1 - who]);
    for (;;) {
      while (turn.load() % 2 != who) {
        own.get_ready();
        if (turn.load() % 2 != who)
          own.sleep();
        else
          own.stay_awake();
      }
      const bool is_over = turn.load() >= kTurns;
      ++turn;
      other.ring();
      if (is_over) return;
    }
  };
  std::thread second(play, 1);
  play(0);
  second.join();
  EXPECT_GE(turn.load(), kTurns);
}

}  // namespace
}  // namespace narrowcast::test
