#include "exchange/engine/labels.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/error.hpp"

namespace narrowcast {
namespace {

// Takes a name apart from the front.
class Name {
 public:
  explicit Name(const std::string& name) : name_(name), left_(name) {}

  std::string_view word() {
    const std::size_t end = left_.find('/');
    const std::string_view word = left_.substr(0, end);
    left_ = end == std::string_view::npos ? std::string_view{} : left_.substr(end + 1);
    return word;
  }

  template <class Number>
  Number number() {
    const std::string_view text = word();
    Number value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 0)
      refuse("is no residual");
    return value;
  }

  std::size_t tensor(const std::vector<Tensor>& tensors) const {
    const auto found = std::ranges::find(tensors, left_, &Tensor::name);
    if (found == tensors.end()) refuse("is of a tensor that is not exchanged");
    return static_cast<std::size_t>(found - tensors.begin());
  }

  [[noreturn]] void refuse(std::string_view why) const {
    throw Error(Fault::wire, fmt::format("the array '{}' {}", name_, why));
  }

 private:
  const std::string& name_;
  std::string_view left_;
};

void check(const Array& array, const Label& label, std::size_t elements, const Name& name) {
  const std::size_t values = array.bytes.size() / sizeof(float);
  bool fits = false;
  switch (label.keeps) {
    case Keeps::ranks:
      fits = array.dtype == Dtype::i64 && array.bytes.size() == sizeof(std::int64_t);
      break;
    case Keeps::sender:
      fits = array.dtype == Dtype::f32 && values == elements;
      break;
    case Keeps::owner:
      fits =
          array.dtype == Dtype::f32 && label.begin <= elements && values <= elements - label.begin;
      break;
    case Keeps::passage:
      fits = array.dtype == Dtype::u8;
      break;
  }
  if (!fits) name.refuse("has another type or size than its tensor");
}

}  // namespace

std::string name_of(const Label& label, const std::vector<Tensor>& tensors) {
  // The number of ranks is of no tensor, and there may be none.
  const std::string tensor = label.keeps == Keeps::ranks ? "" : tensors[label.tensor].name;
  switch (label.keeps) {
    case Keeps::ranks:
      break;
    case Keeps::sender:
      return fmt::format("residual/sender/{}/{}", label.rank, tensor);
    case Keeps::owner:
      return fmt::format("residual/owner/{}/{}/{}", label.rank, label.begin, tensor);
    case Keeps::passage:
      return fmt::format("residual/passage/{}/{}", label.rank, tensor);
  }
  return "residual/ranks";
}

Label label_of(const Array& array, const std::vector<Tensor>& tensors) {
  Name name(array.name);
  if (name.word() != "residual") name.refuse("is no residual");
  const std::string_view kind = name.word();
  Label label;
  if (kind == "ranks") {
    check(array, label, 0, name);
    return label;
  }
  label.keeps = kind == "sender" ? Keeps::sender : kind == "owner" ? Keeps::owner : Keeps::passage;
  if (label.keeps == Keeps::passage && kind != "passage") name.refuse("is no residual");
  label.rank = name.number<int>();
  if (label.keeps == Keeps::owner) label.begin = name.number<std::size_t>();
  label.tensor = name.tensor(tensors);
  check(array, label, tensors[label.tensor].elements, name);
  return label;
}

std::string text_of(const Array& array) {
  std::string text(array.bytes.size(), '\0');
  copy(array.bytes, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace narrowcast
