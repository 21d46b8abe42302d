#pragma once

#include <memory>
#include <optional>
#include <string>

#include "transport/join.hpp"
#include "transport/rendezvous.hpp"

namespace narrowcast::over_gloo {

// Where ranks leave what others need to find them.
class Board {
 public:
  virtual ~Board() = default;
  // Once for each key. Fault::usage when somebody has left something there.
  virtual void leave(const std::string& key, Bytes value) = 0;
  // Nothing when it has not come by the deadline.
  virtual std::optional<Blob> look_for(const std::string& key, Clock::time_point deadline) = 0;
  // Takes away what this rank has left, so that the place can be used again.
  virtual void clear() = 0;
};

// The board that joining.rendezvous names; rank 0 brings it along where it is tcp://.
std::unique_ptr<Board> open_board(const Joining& joining, const MeetingPlace& place,
                                  Clock::time_point deadline);

}  // namespace narrowcast::over_gloo
