#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "collective/collective.hpp"

namespace narrowcast {

// Codecs, and what all-reduces declare of them: many scenarios ask for the same. One thread uses it.
class TrafficBook {
 public:
  const Codec& codec(const std::string& spec);

  struct Question {
    const AllReduceRow* row = nullptr;
    const Codec* codec = nullptr;
    std::size_t values = 0;
    int workers = 1;
    int group = 0;
    bool operator<(const Question& other) const {
      return std::tie(row, codec, values, workers, group) <
             std::tie(other.row, other.codec, other.values, other.workers, other.group);
    }
  };
  // Of the first rank: others differ by a block at most.
  const Traffic& all_reduce(const Question& question);

 private:
  std::map<std::string, std::unique_ptr<Codec>> codecs_;
  std::map<Question, Traffic> known_;
};

// Only sizes and codecs matter to what an algorithm declares; nobody looks at the values.
Piece piece_of(std::size_t values, const Codec& codec);

}  // namespace narrowcast
