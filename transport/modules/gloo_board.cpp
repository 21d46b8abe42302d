#include "transport/modules/gloo_board.hpp"

#include <fmt/core.h>
#include <gloo/common/error.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/redis_store.h>

#include <filesystem>
#include <system_error>
#include <thread>

#include "base/error.hpp"
#include "transport/environment.hpp"

namespace narrowcast::over_gloo {
namespace {

using namespace std::chrono_literals;

constexpr auto kAgain = 10ms;  // stores of Gloo's are asked again and again

std::vector<char> chars(Bytes bytes) {
  const auto* const first = reinterpret_cast<const char*>(bytes.data());
  return {first, first + bytes.size()};
}

Blob blob(const std::vector<char>& chars) {
  const Bytes bytes = std::as_bytes(std::span(chars));
  return {bytes.begin(), bytes.end()};
}

// Gloo's own, with what they hide: whether a key is there, and how to take it away.
class Files : public gloo::rendezvous::FileStore {
 public:
  explicit Files(const MeetingPlace& place) : FileStore(place.path) {}
  using FileStore::check;
  void remove(const std::string& key) {
    std::error_code gone;
    std::filesystem::remove(objectPath(key), gone);
  }
};

class Redis : public gloo::rendezvous::RedisStore {
 public:
  explicit Redis(const MeetingPlace& place) : RedisStore(place.host, place.port) {}
  void remove(const std::string& key) {
    freeReplyObject(redisCommand(redis_, "DEL %b", key.data(), key.size()));
  }
};

template <class Store>
class StoreBoard final : public Board {
 public:
  StoreBoard(const MeetingPlace& place, std::string where)
      : where_(std::move(where)), prefix_(place.path), store_(place) {}

  void leave(const std::string& key, Bytes value) override {
    if (store_.check({prefix_ + key}))
      throw Error(Fault::usage, fmt::format("{} has {} of another run: take another place, or "
                                            "empty it",
                                            where_, key));
    store_.set(prefix_ + key, chars(value));
    left_.push_back(prefix_ + key);
  }

  std::optional<Blob> look_for(const std::string& key, Clock::time_point deadline) override {
    while (!store_.check({prefix_ + key})) {
      if (Clock::now() >= deadline) return std::nullopt;
      std::this_thread::sleep_for(kAgain);
    }
    return blob(store_.get(prefix_ + key));
  }

  void clear() override {
    for (const std::string& key : left_) store_.remove(key);
  }

 private:
  std::string where_;
  std::string prefix_;
  Store store_;
  std::vector<std::string> left_;
};

class OwnBoard final : public Board {
 public:
  OwnBoard(const Joining& joining, RendezvousOptions options, Clock::time_point deadline) {
    if (joining.place.rank == 0) {
      server_.emplace(options);
      options.port = server_->port();
    }
    client_.emplace(options, deadline);
  }

  void leave(const std::string& key, Bytes value) override { client_->set(key, value); }
  std::optional<Blob> look_for(const std::string& key, Clock::time_point deadline) override {
    return client_->get(key, deadline);
  }
  void clear() override {}  // it goes with rank 0's board

 private:
  std::optional<RendezvousServer> server_;
  std::optional<RendezvousClient> client_;
};

// A socket that a launcher has bound for rank 0, so that the port is nobody else's by now.
int inherited_socket(const Joining& joining) {
  const std::optional<std::string> text = environment_variable("NARROWCAST_LISTEN_FD");
  if (joining.place.rank != 0 || !text) return -1;
  char* end = nullptr;
  const long fd = std::strtol(text->c_str(), &end, 10);
  if (text->empty() || *end != '\0' || fd < 0 || fd > 1 << 20)
    throw Error(Fault::usage,
                fmt::format("NARROWCAST_LISTEN_FD is '{}': no file descriptor", *text));
  return static_cast<int>(fd);
}

template <class Store>
std::unique_ptr<Board> open_store(const Joining& joining, const MeetingPlace& place,
                                  Clock::time_point deadline) {
  for (;;) {
    try {
      return std::make_unique<StoreBoard<Store>>(place, joining.rendezvous);
    } catch (const std::exception& error) {
      if (Clock::now() + kAgain >= deadline)
        throw Error(Fault::system,
                    fmt::format("cannot meet at {}: {}", joining.rendezvous, error.what()));
    }
    std::this_thread::sleep_for(kAgain);
  }
}

}  // namespace

std::unique_ptr<Board> open_board(const Joining& joining, const MeetingPlace& place,
                                  Clock::time_point deadline) {
  if (place.kind == Meeting::redis) return open_store<Redis>(joining, place, deadline);
  if (place.kind == Meeting::file) {
    std::error_code error;
    std::filesystem::create_directories(place.path, error);
    if (error)
      throw Error(Fault::system,
                  fmt::format("cannot meet at {}: {}", joining.rendezvous, error.message()));
    return open_store<Files>(joining, place, deadline);
  }
  const RendezvousOptions options = {.host = place.host,
                                     .port = place.port,
                                     .ranks = joining.place.size,
                                     .key = joining.key,
                                     .listening = inherited_socket(joining)};
  if (place.port == 0 && options.listening < 0)
    throw Error(Fault::usage, fmt::format("{} has no port", joining.rendezvous));
  return std::make_unique<OwnBoard>(joining, options, deadline);
}

}  // namespace narrowcast::over_gloo
