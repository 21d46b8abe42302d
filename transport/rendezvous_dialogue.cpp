#include "transport/rendezvous_dialogue.hpp"

namespace narrowcast::rendezvous {

bool Dialogue::hear(Bytes bytes, Pinboard& board) {
  in_.insert(in_.end(), bytes.begin(), bytes.end());
  return digest(board);
}

bool Dialogue::said(std::size_t bytes, Pinboard& board) {
  out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(bytes));
  return digest(board);
}

bool Dialogue::digest(Pinboard& board) {
  if (!greeted_ && in_.size() >= sizeof(Greeting) && !greet()) return false;
  if (foreign_) return !out_.empty();
  while (greeted_ && out_.empty() && in_.size() >= sizeof(std::uint32_t)) {
    // Requests and replies take turns: whoever asks again before the reply is none of ours.
    if (!awaited_.empty()) return false;
    const auto length = get<std::uint32_t>(in_);
    const auto rest = session_.rest_of_frame(length);
    if (!rest || (!proven_ && length > kLongestFirstBody)) return false;
    const std::size_t whole = sizeof length + *rest;
    if (in_.size() < whole) break;
    const auto body = session_.open(Bytes(in_).subspan(sizeof length, *rest));
    const auto request = body ? parse_request(*body) : std::nullopt;
    if (!request || !serve(*request, board)) return false;
    proven_ = true;
    in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(whole));
  }
  return true;
}

bool Dialogue::greet() {
  const auto theirs = get<Greeting>(in_);
  const std::optional<char> protocol = protocol_of(theirs);
  if (!protocol) return false;
  Answer answer;
  answer.greeting = make_greeting(key_);
  if (key_) {
    session_ = Session(End::server, *key_, theirs, answer.greeting);
    answer.proof = session_.proof();
  }
  const Bytes bytes = std::as_bytes(std::span(&answer, 1));
  out_.insert(out_.end(), bytes.begin(), bytes.end());
  in_.erase(in_.begin(), in_.begin() + sizeof(Greeting));
  greeted_ = true;
  foreign_ = protocol != kProtocol;
  return true;
}

bool Dialogue::serve(const Request& request, Pinboard& board) {
  const std::string key(request.key);
  if (request.verb == Verb::get) {
    if (key.empty()) return false;
    awaited_ = key;
    await_until_ = Clock::now() + std::chrono::milliseconds(request.patience_ms);
    look(board);
    return true;
  }
  if (request.value.size() > kLongestValue) return false;
  Outcome outcome = Outcome::full;
  if (board.values.contains(key))
    outcome = Outcome::taken;
  else if (board.values.size() < board.most)
    outcome = Outcome::done;
  if (outcome == Outcome::done)
    board.values.emplace(key, std::vector<std::byte>(request.value.begin(), request.value.end()));
  reply(outcome, {});
  return true;
}

void Dialogue::look(const Pinboard& board) {
  if (awaited_.empty()) return;
  const auto found = board.values.find(awaited_);
  if (found == board.values.end() && Clock::now() < await_until_) return;
  awaited_.clear();
  if (found == board.values.end())
    reply(Outcome::absent, {});
  else
    reply(Outcome::done, found->second);
}

Dialogue::Clock::time_point Dialogue::next_look() const {
  return awaited_.empty() ? Clock::time_point::max() : await_until_;
}

void Dialogue::reply(Outcome outcome, Bytes value) {
  std::vector<std::byte> body(1 + value.size());
  copy(value, put(body, outcome));
  session_.close(body, out_);
}

}  // namespace narrowcast::rendezvous
