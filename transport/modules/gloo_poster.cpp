#include "transport/modules/gloo_poster.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.hpp"

namespace narrowcast::over_gloo {

Poster::Poster(gloo::Context& context)
    : device_(dynamic_cast<gloo::transport::tcp::Device*>(context.getDevice().get())) {
  require(device_ != nullptr, Fault::system, "Gloo's device is not one for TCP");
  bell_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  require(bell_ >= 0, Fault::system, "no event descriptor is to be had");
  device_->registerDescriptor(bell_, EPOLLIN, this);
}

void Poster::send(Frame& frame, int peer, std::uint64_t tag, std::size_t size) {
  post({Way::out, &frame, peer, tag, size});
}

void Poster::receive(Frame& frame, int peer, std::uint64_t tag) {
  post({Way::in, &frame, peer, tag, frame.size()});
}

void Poster::post(const Errand& errand) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  waiting_.push_back(errand);
  if (waiting_.size() == 1) eventfd_write(bell_, 1);  // else it has been rung
}

void Poster::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    stopped_ = true;
    waiting_.clear();
  }
  device_->unregisterDescriptor(bell_, this);  // returns when Gloo's thread is not in here
  close(bell_);
}

void Poster::handleEvents(int /*events*/) {
  eventfd_t rings = 0;
  eventfd_read(bell_, &rings);
  {
    const std::lock_guard lock(mutex_);
    std::swap(under_way_, waiting_);
  }
  for (const Errand& errand : under_way_) {
    try {
      gloo::transport::UnboundBuffer& buffer = errand.frame->buffer();
      if (errand.way == Way::out)
        buffer.send(errand.peer, errand.tag, 0, errand.size);
      else
        buffer.recv(errand.peer, errand.tag, 0, errand.size);
    } catch (const std::exception&) {
      continue;  // the connection is gone: those who watch it say so
    }
  }
  under_way_.clear();
}

}  // namespace narrowcast::over_gloo
