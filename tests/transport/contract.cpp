#include "tests/transport/contract.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace narrowcast::test {
namespace {

constexpr std::size_t kLarge = 20'000'000;   // more than any engine moves at once
constexpr std::size_t kSeveral = 5'000'000;  // more than one part of it

using Buffer = std::vector<std::byte>;

// Bytes that differ from place to place and from message to message.
Buffer pattern(std::size_t length, std::uint64_t which) {
  Buffer bytes(length);
  std::uint64_t word = which * 0x9e3779b97f4a7c15u + 1;
  for (std::size_t i = 0; i < length; i += sizeof word) {
    word = word * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t mixed = word ^ word >> 29;
    std::memcpy(&bytes[i], &mixed, std::min(sizeof mixed, length - i));
  }
  return bytes;
}

Stamp stamp_of(std::uint64_t which) {
  Stamp stamp;
  std::ranges::copy(pattern(stamp.size(), which), stamp.begin());
  return stamp;
}

void expect(bool holds, const std::string& otherwise) {
  if (!holds) throw std::runtime_error(otherwise);
}

int next(const Transport& net) { return (net.rank() + 1) % net.size(); }
int previous(const Transport& net) { return (net.rank() + net.size() - 1) % net.size(); }

// Tells apart messages of different ranks and numbers.
std::uint64_t id(int rank, std::uint64_t number) {
  return number * 64 + static_cast<std::uint64_t>(rank);
}

void expect_message(const Arrival& arrival, Bytes buffer, const Buffer& sent) {
  expect(arrival.length == sent.size(), std::to_string(arrival.length) + " bytes came where " +
                                            std::to_string(sent.size()) + " were sent");
  expect(sent.empty() || std::memcmp(buffer.data(), sent.data(), sent.size()) == 0,
         "other bytes came than were sent");
}

// Receives what the previous rank made with pattern(length, which).
void expect_receive(Transport& net, const Slot& from, std::size_t length, std::uint64_t which) {
  Buffer buffer(length + 1);
  expect_message(net.receive(from, buffer).wait(), buffer, pattern(length, which));
}

void drop(const Ticket& /*ticket*/) {}  // cancels it, since the ticket ends with the call

void tell(Transport& net, const Slot& to) { net.send(to, {}).wait(); }
void await(Transport& net, const Slot& from) { net.receive(from, {}).wait(); }

// The call must end in that fault, and name the rank.
template <class Call>
void expect_fault(Fault fault, int rank, Call call) {
  try {
    call();
  } catch (const Error& error) {
    const std::string text = error.what();
    expect(error.fault() == fault, "another fault: " + text);
    expect(text.find("rank " + std::to_string(rank)) != std::string::npos,
           "the fault names another rank: " + text);
    return;
  }
  throw std::runtime_error("no fault");
}

void length_and_stamp(Transport& net) {
  const Buffer mine = pattern(1000, id(net.rank(), 0));
  Ticket sent = net.send({next(net), 0, 7}, mine, stamp_of(id(net.rank(), 1)));
  Buffer buffer(4096);
  const Arrival came = net.receive({previous(net), 0, 7}, buffer).wait();
  expect_message(came, buffer, pattern(1000, id(previous(net), 0)));
  expect(came.stamp == stamp_of(id(previous(net), 1)), "another stamp came than was sent");
  expect(sent.wait().length == mine.size(), "a send does not say its length");
}

void any_posting_order(Transport& net) {
  constexpr std::uint64_t kCount = 8;
  std::vector<Buffer> mine;
  std::vector<Ticket> sends;
  for (std::uint64_t i = 0; i < kCount; ++i)
    mine.push_back(pattern(100 + i * 1000, id(net.rank(), i)));
  std::vector<Buffer> buffers(kCount, Buffer(10'000));
  std::vector<Ticket> receives(kCount);
  for (std::uint64_t i = kCount; i-- > kCount / 2;)  // half of them before, half of them after
    receives[i] = net.receive({previous(net), 16, i}, buffers[i]);
  for (std::uint64_t i = 0; i < kCount; ++i) sends.push_back(net.send({next(net), 16, i}, mine[i]));
  for (std::uint64_t i = kCount / 2; i-- > 0;)
    receives[i] = net.receive({previous(net), 16, i}, buffers[i]);
  for (const std::uint64_t i : {2, 7, 0, 5, 1, 6, 3, 4})
    expect_message(receives[i].wait(), buffers[i], pattern(mine[i].size(), id(previous(net), i)));
  for (Ticket& send : sends) send.wait();
}

void any_rising_sequence(Transport& net) {
  for (const std::uint64_t sequence : {0ull, 3ull, 4ull, 1000ull, 70'000ull, 3'000'000'000ull}) {
    const Buffer mine = pattern(50, id(net.rank(), sequence));
    Ticket sent = net.send({next(net), 17, sequence}, mine);
    expect_receive(net, {previous(net), 17, sequence}, 50, id(previous(net), sequence));
    sent.wait();
  }
}

void separate_channels(Transport& net) {
  constexpr Channel kFirst = 32;
  constexpr Channel kEnd = 36;
  std::vector<Buffer> mine;
  std::vector<Ticket> sends;
  for (Channel channel = kFirst; channel < kEnd; ++channel)
    mine.push_back(pattern(500, id(net.rank(), channel)));
  for (Channel channel = kFirst; channel < kEnd; ++channel)
    sends.push_back(net.send({next(net), channel, 1}, mine[channel - kFirst]));
  for (Channel channel = kEnd; channel-- > kFirst;)
    expect_receive(net, {previous(net), channel, 1}, 500, id(previous(net), channel));
  for (Ticket& send : sends) send.wait();
}

void empty_messages(Transport& net) {
  Ticket sent = net.send({next(net), 48, 0}, {}, stamp_of(3));
  const Arrival came = net.receive({previous(net), 48, 0}, {}).wait();
  expect(came.length == 0 && came.stamp == stamp_of(3), "an empty message did not arrive as sent");
  sent.wait();
}

void large_messages(Transport& net) {
  const Buffer mine = pattern(kLarge, id(net.rank(), 0));
  Buffer buffer(kLarge);
  if (net.rank() == 0) net.send({next(net), 64, 0}, mine).wait();
  const Arrival came = net.receive({previous(net), 64, 0}, buffer).wait();
  if (net.rank() != 0) net.send({next(net), 64, 0}, mine).wait();
  expect_message(came, buffer, pattern(kLarge, id(previous(net), 0)));
}

void large_both_ways(Transport& net) {
  const Buffer mine = pattern(kLarge, id(net.rank(), 0));
  Buffer buffer(kLarge);
  Ticket sent = net.send({next(net), 80, 0}, mine);
  Ticket received = net.receive({previous(net), 80, 0}, buffer);
  sent.wait();  // everybody waits for the sending first
  expect_message(received.wait(), buffer, pattern(kLarge, id(previous(net), 0)));
}

void many_small_messages(Transport& net) {
  constexpr std::uint64_t kCount = 3000;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const Buffer mine = pattern(i % 67, id(net.rank(), i));
    Ticket sent = net.send({next(net), 96, i}, mine);
    expect_receive(net, {previous(net), 96, i}, i % 67, id(previous(net), i));
    sent.wait();
  }
}

void all_to_all(Transport& net) {
  const auto length = [](int from, int to) {
    return static_cast<std::size_t>(from) * 70'001 + static_cast<std::size_t>(to) * 113;
  };
  const auto size = static_cast<std::size_t>(net.size());
  for (std::uint64_t round = 0; round < 5; ++round) {
    std::vector<Buffer> mine(size);
    std::vector<Buffer> theirs(size);
    std::vector<Ticket> sends(size);
    std::vector<Ticket> receives(size);
    for (int peer = 0; peer < net.size(); ++peer) {
      if (peer == net.rank()) continue;
      theirs[peer].resize(length(peer, net.rank()));
      mine[peer] = pattern(length(net.rank(), peer), id(net.rank(), round));
      receives[peer] = net.receive({peer, 112, round}, theirs[peer]);
      sends[peer] = net.send({peer, 112, round}, mine[peer]);
    }
    for (int peer = 0; peer < net.size(); ++peer) {
      if (peer == net.rank()) continue;
      expect_message(receives[peer].wait(), theirs[peer],
                     pattern(theirs[peer].size(), id(peer, round)));
      sends[peer].wait();
    }
  }
}

void cancelled_receives(Transport& net) {
  const Buffer untouched(1000, std::byte{0xaa});
  Buffer buffer = untouched;
  drop(net.receive({previous(net), 128, 0}, buffer));
  tell(net, {previous(net), 129, 0});
  await(net, {next(net), 129, 0});
  const Buffer mine = pattern(1000, id(net.rank(), 0));
  Ticket lost = net.send({next(net), 128, 0}, mine);
  Ticket sent = net.send({next(net), 128, 1}, mine);
  expect_receive(net, {previous(net), 128, 1}, 1000, id(previous(net), 0));
  sent.wait();
  expect(buffer == untouched, "a cancelled receive wrote into its buffer");
}

// The message is under way when the receive goes, wherever that is.
void receives_cancelled_half_way(Transport& net) {
  const Buffer mine = pattern(kSeveral, id(net.rank(), 0));
  Buffer buffer(kSeveral);
  Ticket doomed = net.receive({previous(net), 144, 0}, buffer);
  Ticket sent = net.send({next(net), 144, 0}, mine);
  net.poke();
  doomed = {};
  const Buffer snapshot = buffer;
  Ticket after = net.send({next(net), 145, 0}, mine);
  expect_receive(net, {previous(net), 145, 0}, kSeveral, id(previous(net), 0));
  after.wait();
  expect(buffer == snapshot, "a cancelled receive wrote into its buffer");
}

void cancelled_sends(Transport& net) {
  Buffer doomed = pattern(kSeveral, id(net.rank(), 0));
  drop(net.send({next(net), 160, 0}, doomed));  // begun or not
  std::ranges::fill(doomed, std::byte{0});
  const Buffer mine = pattern(5000, id(net.rank(), 1));
  Ticket sent = net.send({next(net), 160, 1}, mine);
  expect_receive(net, {previous(net), 160, 1}, 5000, id(previous(net), 1));
  sent.wait();
}

void threads_share_a_transport(Transport& net) {
  constexpr Channel kThreads = 4;
  std::vector<std::exception_ptr> errors(kThreads);
  std::vector<std::thread> threads;
  const auto exchange = [&net](Channel channel) {
    for (std::uint64_t i = 0; i < 200; ++i) {
      const std::size_t length = i * 37 % 5000 + (i % 50 == 49 ? 300'000 : 0);
      const Buffer mine = pattern(length, id(net.rank(), i + channel));
      Ticket sent = net.send({next(net), channel, i}, mine);
      expect_receive(net, {previous(net), channel, i}, length, id(previous(net), i + channel));
      sent.wait();
    }
  };
  for (Channel i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      try {
        exchange(176 + i);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

void no_such_peer(Transport& net) {
  Buffer buffer(1);
  const auto refuses = [&](int peer) {
    for (const bool sending : {true, false}) {
      try {
        const Slot slot{peer, 192, 0};
        const Ticket ticket = sending ? net.send(slot, buffer) : net.receive(slot, buffer);
      } catch (const Error& error) {
        expect(error.fault() == Fault::usage, "another fault than usage");
        continue;
      }
      throw std::runtime_error("rank " + std::to_string(peer) + " was accepted as a peer");
    }
  };
  refuses(-1);
  refuses(net.rank());
  refuses(net.size());
}

// Rank 0 sends rank 1 too much; until rank 1 has seen it, nobody leaves.
void message_too_long(Transport& net) {
  if (net.rank() == 0) {
    const Buffer mine = pattern(300, 0);
    Ticket sent = net.send({1, 208, 0}, mine);
    expect_fault(Fault::peer, 1, [&] { await(net, {1, 209, 0}); });
  } else if (net.rank() == 1) {
    Buffer buffer(200);
    expect_fault(Fault::wire, 0, [&] { net.receive({0, 208, 0}, buffer).wait(); });
  } else {
    expect_fault(Fault::peer, 1, [&] { await(net, {1, 209, 0}); });
  }
}

// A thread that waits already, a ticket that nobody waits for yet, and whatever is asked later.
void a_fault_is_the_answer_to_everything(Transport& net) {
  if (net.rank() != 1) {
    const Buffer mine = pattern(300, 0);
    Ticket sent;
    if (net.rank() == 0) sent = net.send({1, 224, 0}, mine);
    expect_fault(Fault::peer, 1, [&] { await(net, {1, 225, 0}); });
    return;
  }
  Buffer buffer(200);
  Buffer other(10);
  std::exception_ptr of_thread;
  Ticket pending = net.receive({0, 226, 0}, other);
  std::thread waiting([&] {
    try {
      expect_fault(Fault::wire, 0, [&] { await(net, {0, 227, 0}); });
    } catch (...) {
      of_thread = std::current_exception();
    }
  });
  const auto the_rest = [&] {
    expect_fault(Fault::wire, 0, [&] { net.receive({0, 224, 0}, buffer).wait(); });
    expect_fault(Fault::wire, 0, [&] { pending.wait(); });
    expect_fault(Fault::wire, 0, [&] { net.receive({0, 228, 0}, other).wait(); });
    expect_fault(Fault::wire, 0, [&] { net.send({0, 228, 0}, other).wait(); });
  };
  std::exception_ptr of_rest;
  try {
    the_rest();
  } catch (...) {
    of_rest = std::current_exception();
  }
  waiting.join();
  for (const std::exception_ptr& error : {of_rest, of_thread})
    if (error) std::rethrow_exception(error);
}

void a_rank_that_leaves_is_named(Transport& net) {
  const int leaver = net.size() - 1;
  if (net.rank() == leaver) return;
  Buffer buffer(10);
  expect_fault(Fault::peer, leaver, [&] { net.receive({leaver, 240, 0}, buffer).wait(); });
  expect_fault(Fault::peer, leaver, [&] { net.receive({leaver, 241, 0}, buffer).wait(); });
}

void what_was_sent_before_leaving_arrives(Transport& net) {
  constexpr std::size_t kLength = 100'000;
  const int leaver = net.size() - 1;
  if (net.rank() == leaver) {
    std::vector<Buffer> mine;
    std::vector<Ticket> sends;
    for (std::uint64_t i = 0; i < 3; ++i) mine.push_back(pattern(kLength, i));
    for (int peer = 0; peer < leaver; ++peer)
      for (std::uint64_t i = 0; i < 3; ++i) sends.push_back(net.send({peer, 256, i}, mine[i]));
    for (Ticket& send : sends) send.wait();
    return;
  }
  for (const std::uint64_t i : {2, 1, 0}) expect_receive(net, {leaver, 256, i}, kLength, i);
  expect_fault(Fault::peer, leaver, [&] { await(net, {leaver, 256, 3}); });
}

constexpr Clause kContract[] = {
    {"CarriesLengthAndStamp", length_and_stamp, 2, Aftermath::usable},
    {"TakesReceivesInAnyOrder", any_posting_order, 2, Aftermath::usable},
    {"TakesAnyRisingSequence", any_rising_sequence, 2, Aftermath::usable},
    {"KeepsChannelsApart", separate_channels, 2, Aftermath::usable},
    {"CarriesEmptyMessages", empty_messages, 2, Aftermath::usable},
    {"CarriesLargeMessages", large_messages, 2, Aftermath::usable},
    {"CarriesLargeMessagesBothWaysAtOnce", large_both_ways, 2, Aftermath::usable},
    {"CarriesManySmallMessages", many_small_messages, 2, Aftermath::usable},
    {"CarriesAllToAll", all_to_all, 5, Aftermath::usable},
    {"LeavesTheBufferOfACancelledReceiveAlone", cancelled_receives, 2, Aftermath::usable},
    {"LetsGoOfReceivesHalfWay", receives_cancelled_half_way, 2, Aftermath::usable},
    {"GoesOnAfterACancelledSend", cancelled_sends, 2, Aftermath::usable},
    {"ServesSeveralThreads", threads_share_a_transport, 2, Aftermath::usable},
    {"RefusesPeersThatAreNone", no_such_peer, 2, Aftermath::usable},
    {"RefusesMessagesLongerThanTheBuffer", message_too_long, 2, Aftermath::spent},
    {"FailsEverythingAfterOneFault", a_fault_is_the_answer_to_everything, 2, Aftermath::spent},
    {"NamesARankThatLeft", a_rank_that_leaves_is_named, 2, Aftermath::spent},
    {"DeliversWhatWasSentBeforeLeaving", what_was_sent_before_leaving_arrives, 2, Aftermath::spent},
};

}  // namespace

std::span<const Clause> contract() { return kContract; }

}  // namespace narrowcast::test
