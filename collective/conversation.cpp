#include "collective/conversation.hpp"

#include "base/error.hpp"

namespace narrowcast {
namespace {

class Silent final : public Probe {
 public:
  void start(Work /*work*/) override {}
  void stop(Work /*work*/) override {}
};

}  // namespace

Conversation::Conversation(Transport& net, std::uint32_t number, const ConversationParts& parts)
    : net_(&net),
      number_(number),
      team_(parts.team),
      probe_(parts.probe),
      sent_(static_cast<std::size_t>(net.size()) * kLanes),
      received_(sent_.size()) {
  require(number < kFirstReservedChannel / kLanes, Fault::usage,
          "the number of this conversation is too large");
  if (team_ == nullptr) team_ = (own_team_ = std::make_unique<Team>(1)).get();
  if (probe_ == nullptr) probe_ = (own_probe_ = std::make_unique<Silent>()).get();
}

Slot Conversation::next(std::vector<std::uint64_t>& counters, int peer, int lane) {
  std::uint64_t& counter = counters[static_cast<std::size_t>(lane) * size() + peer];
  return {peer, number_ * kLanes + static_cast<std::uint32_t>(lane), counter++};
}

MutableBytes Conversation::scratch(std::size_t bytes) {
  if (bytes > scratch_bytes_) {
    scratch_.reset();  // the old before the new, so that both are never held at once
    scratch_bytes_ = 0;
    scratch_.reset(static_cast<std::byte*>(::operator new[](bytes, kAlign)));
    scratch_bytes_ = bytes;
  }
  return {scratch_.get(), bytes};
}

}  // namespace narrowcast
