#include "exchange/engine/keeping.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "exchange/engine/labels.hpp"
#include "exchange/engine/letters.hpp"
#include "exchange/engine/regrouping.hpp"

namespace narrowcast {
namespace {

constexpr const char* kText = "text";
constexpr const char* kFloats = "floats";
constexpr std::size_t kLongestText = std::size_t{1} << 16;

Array array_of(const std::string& name, Floats values) {
  return floats_array(name, {static_cast<std::int64_t>(values.size())}, values);
}

Array text_array(const std::string& name, const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {.name = name,
          .dtype = Dtype::u8,
          .shape = {static_cast<std::int64_t>(text.size())},
          .bytes = {bytes.begin(), bytes.end()}};
}

// Calls each(array) for what one rank has of one tensor.
template <class Each>
void for_arrays(const std::vector<Tensor>& tensors, const Label& whose, const Residual& residual,
                const Each& each) {
  Label label = whose;
  if (!residual.sender.empty()) {
    label.keeps = Keeps::sender;
    each(array_of(name_of(label, tensors), residual.sender));
  }
  if (residual.owner.empty()) return;
  label.keeps = Keeps::passage;
  each(text_array(name_of(label, tensors), residual.passage));
  const Extension extension = extension_of(residual.owner);
  label.keeps = Keeps::owner;
  label.begin = extension.begin;
  each(array_of(name_of(label, tensors),
                Floats(residual.owner).subspan(extension.begin, extension.count)));
}

void put_in(const Array& array, const std::vector<Tensor>& tensors,
            std::vector<Residual>& residuals) {
  const Label label = label_of(array, tensors);
  Residual& residual = residuals[label.tensor];
  if (label.keeps == Keeps::passage) {
    residual.passage = text_of(array);
    return;
  }
  std::vector<float>& place = label.keeps == Keeps::sender ? residual.sender : residual.owner;
  place.assign(tensors[label.tensor].elements, 0);
  std::ranges::copy(floats_of(array), place.begin() + static_cast<std::ptrdiff_t>(label.begin));
}

// An array over the wire; none: the last one was before it.
void send_array(Conversation& group, int to, const Array& array) {
  send_text(group, to, array.name);
  send_text(group, to, array.dtype == Dtype::u8 ? kText : kFloats);
  send_letter(group, to, array.bytes);
}

void send_end(Conversation& group, int to) { send_text(group, to, {}); }

std::size_t longest(const std::vector<Tensor>& tensors) {
  std::size_t bytes = kLongestText;
  for (const Tensor& tensor : tensors) bytes = std::max(bytes, tensor.elements * sizeof(float));
  return bytes;
}

template <class Each>
void receive_arrays(Conversation& group, int from, const std::vector<Tensor>& tensors,
                    const Each& each) {
  for (;;) {
    Array array;
    array.name = receive_text(group, from, kLongestText);
    if (array.name.empty()) return;
    const std::string dtype = receive_text(group, from, kLongestText);
    array.dtype = dtype == kText ? Dtype::u8 : Dtype::f32;
    array.bytes = receive_letter(group, from, longest(tensors));
    const std::size_t width = array.dtype == Dtype::u8 ? 1 : sizeof(float);
    array.shape = {static_cast<std::int64_t>(array.bytes.size() / width)};
    each(std::move(array));
  }
}

// Of how many ranks the arrays are; 0: there are none.
std::int64_t ranks_in(const std::vector<Array>& saved, const std::vector<Tensor>& tensors) {
  for (const Array& array : saved)
    if (label_of(array, tensors).keeps == Keeps::ranks) return get<std::int64_t>(array.bytes);
  return 0;
}

// Fault::wire when something is wrong with the arrays.
void check_saved(const std::vector<Array>& saved, const std::vector<Tensor>& tensors,
                 Codecs& codecs) {
  if (saved.empty()) return;
  const std::int64_t ranks = ranks_in(saved, tensors);
  require(ranks > 0 && ranks < std::numeric_limits<int>::max(), Fault::wire,
          "what is to be loaded does not say of how many ranks it is");
  std::set<std::pair<int, std::size_t>> with_passage;
  for (const Array& array : saved) {
    const Label label = label_of(array, tensors);
    if (label.rank >= ranks)
      throw Error(Fault::wire, fmt::format("the array '{}' is of a rank too many", array.name));
    if (label.keeps != Keeps::passage) continue;
    with_passage.emplace(label.rank, label.tensor);
    try {
      codecs.codec(codec_in(text_of(array)), tensors[label.tensor]);
    } catch (const Error& error) {
      throw Error(Fault::wire, fmt::format("the array '{}': {}", array.name, error.what()));
    }
  }
  for (const Array& array : saved) {
    const Label label = label_of(array, tensors);
    if (label.keeps == Keeps::owner && !with_passage.contains({label.rank, label.tensor}))
      throw Error(Fault::wire, fmt::format("the array '{}' has no passage beside it", array.name));
  }
}

// Calls each(rank, array) for what goes to a rank, when there are as many as there were.
template <class Each>
void hand_back(const std::vector<Array>& saved, const std::vector<Tensor>& tensors,
               const Each& each) {
  for (const Array& array : saved) {
    const Label label = label_of(array, tensors);
    if (label.keeps != Keeps::ranks) each(label.rank, array);
  }
}

}  // namespace

std::vector<Array> save_residuals(const std::vector<Tensor>& tensors,
                                  const std::vector<Residual>& residuals, Conversation& group) {
  std::vector<Array> all;
  const std::int64_t ranks = group.size();
  const auto bytes = std::as_bytes(std::span(&ranks, 1));
  if (group.rank() == 0)
    all.push_back({.name = name_of({}, tensors),
                   .dtype = Dtype::i64,
                   .shape = {1},
                   .bytes = {bytes.begin(), bytes.end()}});
  for (std::size_t i = 0; i < tensors.size(); ++i)
    for_arrays(tensors, {.rank = group.rank(), .tensor = i}, residuals[i], [&](Array&& array) {
      if (group.rank() == 0)
        all.push_back(std::move(array));
      else
        send_array(group, 0, array);
    });
  if (group.rank() != 0) send_end(group, 0);
  for (int peer = 1; group.rank() == 0 && peer < group.size(); ++peer)
    receive_arrays(group, peer, tensors, [&](Array&& array) {
      label_of(array, tensors);
      all.push_back(std::move(array));
    });
  return all;
}

void check_residuals(const std::vector<Array>& saved, const std::vector<Tensor>& tensors) {
  Codecs codecs;
  check_saved(saved, tensors, codecs);
}

std::string judge_residuals(const std::vector<Array>& saved, const std::vector<Tensor>& tensors,
                            Codecs& codecs, Conversation& group) {
  std::string wrong;
  if (group.rank() == 0) {
    try {
      check_saved(saved, tensors, codecs);
    } catch (const Error& error) {
      wrong = error.what();
    }
  }
  return verdict(group, wrong);
}

std::vector<Residual> load_residuals(const std::vector<Array>& saved,
                                     const std::vector<Tensor>& tensors, Codecs& codecs,
                                     Conversation& group) {
  std::vector<Residual> mine(tensors.size());
  const auto keep = [&](const Array& array) { put_in(array, tensors, mine); };
  if (group.rank() != 0) {
    receive_arrays(group, 0, tensors, keep);
    return mine;
  }
  const auto give = [&](int rank, const Array& array) {
    if (rank == 0)
      keep(array);
    else
      send_array(group, rank, array);
  };
  const auto old_ranks = static_cast<int>(ranks_in(saved, tensors));
  if (old_ranks == group.size()) {
    hand_back(saved, tensors, give);
  } else if (old_ranks != 0) {
    const Regrouping regrouping(saved, tensors, old_ranks);
    for (int rank = 0; rank < group.size(); ++rank)
      for (std::size_t i = 0; i < tensors.size(); ++i)
        for_arrays(tensors, {.rank = rank, .tensor = i},
                   regrouping.of(i, rank, group.size(), codecs),
                   [&](const Array& array) { give(rank, array); });
  }
  for (int peer = 1; peer < group.size(); ++peer) send_end(group, peer);
  return mine;
}

}  // namespace narrowcast
