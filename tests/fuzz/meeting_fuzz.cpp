// Any bytes to the server of the rendezvous, with a job key and without: junk, what follows a good greeting, and what
// a rank that has the key may say. And any bytes back to a client, and as the name of the place.
//
//   input:   u8 which way | the bytes
#include <algorithm>

#include "tests/fuzz/support/allowed.hpp"
#include "transport/rendezvous.hpp"
#include "transport/rendezvous_dialogue.hpp"

namespace {

using namespace narrowcast;
using namespace narrowcast::rendezvous;

constexpr std::size_t kMostValues = 4;

JobKey job_key() {
  JobKey key;
  key.fill(std::byte{7});
  return key;
}

// A server's end of a connection, which reads all that it is told at once or in pieces.
class Server {
 public:
  explicit Server(const std::optional<JobKey>& key) : dialogue_(key) {}

  bool hear(Bytes bytes) {
    while (!bytes.empty()) {
      const std::size_t piece = std::min<std::size_t>(bytes.size(), 1 + bytes.size() / 2);
      if (!dialogue_.hear(bytes.first(piece), board_) || !take_replies()) return false;
      bytes = bytes.subspan(piece);
    }
    return true;
  }

  Bytes last_reply() const { return reply_; }

 private:
  // As a connection does that takes some bytes at a time.
  bool take_replies() {
    dialogue_.look(board_);
    while (!dialogue_.to_say().empty()) {
      reply_.assign(dialogue_.to_say().begin(), dialogue_.to_say().end());
      if (!dialogue_.said((reply_.size() + 1) / 2, board_)) return false;
    }
    if (board_.values.size() > kMostValues) abort();
    return true;
  }

  Dialogue dialogue_;
  Pinboard board_{.most = kMostValues};
  std::vector<std::byte> reply_;
};

void junk(Bytes bytes) { Server(std::nullopt).hear(bytes); }
void junk_to_a_keyed_one(Bytes bytes) { Server(job_key()).hear(bytes); }

void after_a_greeting(Bytes bytes) {
  Server server(std::nullopt);
  const Greeting hello = make_greeting(std::nullopt);
  server.hear(std::as_bytes(std::span(&hello, 1)));
  server.hear(bytes);
}

// Requests of any contents, rightly sealed: each has its length before it.
void of_a_rank(Bytes bytes) {
  Dialogue dialogue{std::optional(job_key())};
  Pinboard board{.most = kMostValues};
  const Greeting hello = make_greeting(job_key());
  if (!dialogue.hear(std::as_bytes(std::span(&hello, 1)), board)) abort();
  const auto answer = get<Answer>(dialogue.to_say());
  Session session(End::client, job_key(), hello, answer.greeting);
  if (answer.proof != session.proof()) abort();
  dialogue.said(sizeof answer, board);
  while (!bytes.empty()) {
    const std::size_t length =
        std::min(bytes.size() - 1, std::to_integer<std::size_t>(bytes.front()));
    std::vector<std::byte> frame;
    session.close(bytes.subspan(1, length), frame);
    if (!dialogue.hear(frame, board)) return;
    dialogue.said(dialogue.to_say().size(), board);
    bytes = bytes.subspan(1 + length);
  }
}

// What a server says to a client: a length, and what follows it.
void answer(Session session, Bytes bytes) {
  if (bytes.size() < sizeof(std::uint32_t)) return;
  const auto rest = session.rest_of_frame(get<std::uint32_t>(bytes));
  const Bytes came = bytes.subspan(sizeof(std::uint32_t));
  if (rest && *rest <= came.size()) session.open(came.first(*rest));
}

void to_a_client(Bytes bytes) {
  const Greeting hello = make_greeting(job_key());
  answer(Session(), bytes);
  answer(Session(End::client, job_key(), hello, hello), bytes);
}

void meeting_place(Bytes bytes) {
  fuzz::expect({Fault::usage}, [&] { parse_meeting_place(fuzz::text_of(bytes)); });
}

constexpr fuzz::Allowance kLittle{256 * fuzz::kKilo, 16};

const fuzz::Reader kReaders[] = {
    {junk, {}, kLittle},      {junk_to_a_keyed_one, {}, kLittle}, {after_a_greeting, {}, kLittle},
    {of_a_rank, {}, kLittle}, {to_a_client, {}, kLittle},         {meeting_place, {}, kLittle},
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::hand_over(kReaders, fuzz::bytes_of(data, size));
}
