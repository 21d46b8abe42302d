#include "exchange/engine/agreement.hpp"

#include <fmt/core.h>

#include <sstream>

#include "base/error.hpp"
#include "exchange/engine/letters.hpp"

namespace narrowcast {
namespace {

constexpr std::size_t kLongest = std::size_t{64} << 20;

std::string describe(Plan plan, const std::vector<Tensor>& tensors, std::uint64_t seed) {
  plan.key_file.clear();  // every machine may have it elsewhere
  std::string text = fmt::format("seed = {}\n{}", seed, to_toml(plan));
  for (const Tensor& tensor : tensors)
    text += fmt::format("tensor '{}' of {} values, innermost {}\n", tensor.name, tensor.elements,
                        tensor.innermost.value_or(0));
  return text;
}

std::string difference(const std::string& there, const std::string& here) {
  std::istringstream theirs(there);
  std::istringstream ours(here);
  std::string their_line;
  std::string our_line;
  do {
    const bool more_there = static_cast<bool>(std::getline(theirs, their_line));
    const bool more_here = static_cast<bool>(std::getline(ours, our_line));
    if (!more_there && !more_here) break;
    if (!more_there) their_line = "nothing";
    if (!more_here) our_line = "nothing";
  } while (their_line == our_line);
  return fmt::format("{} there, {} on rank 0", their_line, our_line);
}

}  // namespace

void agree_on(const Plan& plan, const std::vector<Tensor>& tensors, std::uint64_t seed,
              Conversation& group) {
  const std::string own = describe(plan, tensors, seed);
  if (group.rank() != 0) send_text(group, 0, own);
  std::string found;
  for (int peer = 1; group.rank() == 0 && peer < group.size(); ++peer) {
    const std::string theirs = receive_text(group, peer, kLongest);
    if (theirs != own && found.empty())
      found = fmt::format("rank {} differs in its exchange: {}", peer, difference(theirs, own));
  }
  const std::string said = verdict(group, found);
  if (!said.empty()) throw Error(Fault::usage, said);
}

}  // namespace narrowcast
