#include "exchange/engine/meter.hpp"

#include "transport/wrapper.hpp"

namespace narrowcast {

std::unique_ptr<Transfer> Metered::do_send(const Slot& to, Bytes message, const Stamp& stamp) {
  bytes_ += message.size();
  return std::make_unique<PassedOn>(inner_.send(to, message, stamp));
}

std::unique_ptr<Transfer> Metered::do_receive(const Slot& from, MutableBytes buffer) {
  return std::make_unique<PassedOn>(inner_.receive(from, buffer));
}

}  // namespace narrowcast
