// Any bytes as what another rank says: its greeting, with a job key and without, its list of terms, a sealed message,
// and the letters that residuals travel in.
//
//   input:   u8 which of these | the bytes; of letters: u8 length before each message
#include <algorithm>

#include "exchange/engine/codecs.hpp"
#include "exchange/engine/keeping.hpp"
#include "tests/fuzz/support/allowed.hpp"
#include "tests/fuzz/support/stub.hpp"
#include "transport/agree.hpp"
#include "transport/sealing/envelope.hpp"
#include "transport/sealing/greeting.hpp"

namespace {

using namespace narrowcast;

Sealing with_key() {
  JobKey key;
  key.fill(std::byte{3});
  return {.key = key};
}

void greeting(Bytes bytes) {
  fuzz::Stub net(0);
  net.will_say(bytes);
  sealing::greet(net, {});
}

void keyed_greeting(Bytes bytes) {
  fuzz::Stub net(0);
  net.will_say(bytes);
  sealing::greet(net, with_key());
  abort();  // nobody can prove a key that they do not have
}

void terms(Bytes bytes) {
  static const std::vector<Term> own = {{"build", "12345678"}, {"plan", "a plan"}};
  fuzz::Stub net(0);
  net.will_say(bytes);
  agree(net, own);
}

// Neither opens but by a chance of one in 2^64; its stamp comes first.
void sealed_message(Bytes bytes) {
  static const sealing::Standing own = {.rank = 0, .size = 2};
  static const JobKey key = *with_key().key;
  Stamp stamp = {};
  copy(bytes.first(std::min(bytes.size(), stamp.size())), stamp);
  const Bytes rest = bytes.subspan(std::min(bytes.size(), stamp.size()));
  for (const Secrecy secrecy : {Secrecy::authentic, Secrecy::encrypted}) {
    std::vector<std::byte> message(rest.begin(), rest.end());
    if (keyed_envelope(own, key, secrecy)->open({.peer = 1}, message, stamp)) abort();
  }
  std::vector<std::byte> message(rest.begin(), rest.end());
  checksum_envelope(own)->open({.peer = 1}, message, stamp);
}

// What rank 0 sends of a checkpoint to rank 1.
void letters(Bytes bytes) {
  static const std::vector<Tensor> tensors = {{"a", 4}, {"b", 6, 3}};
  fuzz::Stub net(1);
  while (!bytes.empty()) {
    const std::size_t length =
        std::min(bytes.size() - 1, std::to_integer<std::size_t>(bytes.front()));
    net.will_say(bytes.subspan(1, length));
    bytes = bytes.subspan(1 + length);
  }
  Conversation group(net, 0);
  Codecs codecs;
  load_residuals({}, tensors, codecs, group);
}

const fuzz::Reader kReaders[] = {
    {greeting, {Fault::wire, Fault::peer}, {64 * fuzz::kKilo, 16}},
    {keyed_greeting, {Fault::wire, Fault::peer}, {64 * fuzz::kKilo, 16}},
    {terms, {Fault::wire, Fault::peer}, {64 * fuzz::kKilo, 16}},
    {sealed_message, {}, {64 * fuzz::kKilo, 16}},
    // A letter announces its length, up to that of the longest text.
    {letters, {Fault::wire, Fault::peer}, {512 * fuzz::kKilo, 256}},
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::hand_over(kReaders, fuzz::bytes_of(data, size));
}
