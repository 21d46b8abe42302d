// What a rank sends to every other, its manifest:
//   Header            magic, protocol, number of terms, version of narrowcast
//   for each term     Entry, then its name, then the beginning of its text
// Digest and length are of the whole text; the beginning is there to be shown, so what cannot be
// printed is a '?' in it.
#include "transport/agree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <vector>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "base/version.hpp"
#include "transport/meet.hpp"

namespace narrowcast {
namespace {

constexpr std::array<unsigned char, 8> kMagic = {0x8e, 'N', 'C', 'A', 0x0d, 0x0a, 0x1a, 0x0a};
constexpr std::uint32_t kProtocol = 1;
constexpr std::size_t kMaxTerms = 64;
constexpr std::size_t kMaxName = 64;
constexpr std::size_t kShown = 80;

struct Header {
  std::array<unsigned char, 8> magic = kMagic;
  std::uint32_t protocol = kProtocol;
  std::uint32_t terms = 0;
  std::array<char, 32> version = {};  // ends with zeros
};
static_assert(sizeof(Header) == 48);

struct Entry {
  std::uint64_t digest = 0;
  std::uint64_t length = 0;
  std::uint32_t name_bytes = 0;
  std::uint32_t shown_bytes = 0;
};
static_assert(sizeof(Entry) == 24);

constexpr std::size_t kLongest = sizeof(Header) + kMaxTerms * (sizeof(Entry) + kMaxName + kShown);

struct Line {
  std::string name;
  std::string shown;
  std::uint64_t digest = 0;
  std::uint64_t length = 0;
  bool operator==(const Line&) const = default;
};

struct Manifest {
  std::string version;
  std::uint32_t protocol = kProtocol;
  std::vector<Line> lines = {};
};

bool printable(char c) { return c >= 0x20 && c <= 0x7e; }

Line line_of(const Term& term) {
  if (term.name.empty() || term.name.size() > kMaxName ||
      !std::ranges::all_of(term.name, printable))
    throw Error(Fault::usage, "a term needs a short printable name, unlike '" + term.name + "'");
  std::string shown = term.text.substr(0, kShown);
  std::ranges::replace_if(shown, std::not_fn(printable), '?');
  return {term.name, shown, checksum(std::as_bytes(std::span(term.text))), term.text.size()};
}

Manifest manifest_of(std::span<const Term> terms) {
  require(terms.size() <= kMaxTerms, Fault::usage, "too many terms to agree on");
  Manifest manifest{.version = std::string(version())};
  for (const Term& term : terms) manifest.lines.push_back(line_of(term));
  return manifest;
}

std::vector<std::byte> write(const Manifest& manifest) {
  std::vector<std::byte> out;
  const auto append = [&](Bytes bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); };
  Header header{.terms = static_cast<std::uint32_t>(manifest.lines.size())};
  require(manifest.version.size() < header.version.size(), Fault::usage, "too long a version");
  std::ranges::copy(manifest.version, header.version.begin());
  append(std::as_bytes(std::span(&header, 1)));
  for (const Line& line : manifest.lines) {
    const Entry entry{line.digest, line.length, static_cast<std::uint32_t>(line.name.size()),
                      static_cast<std::uint32_t>(line.shown.size())};
    append(std::as_bytes(std::span(&entry, 1)));
    append(std::as_bytes(std::span(line.name)));
    append(std::as_bytes(std::span(line.shown)));
  }
  return out;
}

// Reads a peer's manifest; whatever is wrong with it is the peer's Fault::wire.
class Reader {
 public:
  Reader(int peer, Bytes bytes) : peer_(peer), left_(bytes) {}

  Manifest manifest() {
    const auto header = take<Header>();
    const auto end = std::ranges::find(header.version, '\0');
    const bool ended = end != header.version.end() &&
                       std::all_of(end, header.version.end(), [](char c) { return c == '\0'; });
    if (header.magic != kMagic || !ended) malformed();
    Manifest out{.version = {header.version.begin(), end}, .protocol = header.protocol};
    if (!std::ranges::all_of(out.version, printable)) malformed();
    if (out.protocol != kProtocol) return out;
    if (header.terms > kMaxTerms) malformed();
    for (std::uint32_t i = 0; i < header.terms; ++i) out.lines.push_back(line());
    if (!left_.empty()) malformed();
    return out;
  }

 private:
  Line line() {
    const auto entry = take<Entry>();
    if (entry.name_bytes > kMaxName || entry.shown_bytes > kShown) malformed();
    std::string name = text(entry.name_bytes);
    std::string shown = text(entry.shown_bytes);
    return {std::move(name), std::move(shown), entry.digest, entry.length};
  }

  template <Plain T>
  T take() {
    if (left_.size() < sizeof(T)) malformed();
    const T value = get<T>(left_);
    left_ = left_.subspan(sizeof(T));
    return value;
  }

  std::string text(std::size_t length) {
    if (left_.size() < length) malformed();
    std::string out(length, '\0');
    copy(left_.first(length), std::as_writable_bytes(std::span(out)));
    left_ = left_.subspan(length);
    if (!std::ranges::all_of(out, printable)) malformed();
    return out;
  }

  [[noreturn]] void malformed() const {
    throw Error(Fault::wire, fmt::format("rank {} sent something that is no list of terms", peer_));
  }

  int peer_;
  Bytes left_;
};

// What is different there, or nothing: "differs in seed: 8 there, 7 here".
std::string difference(const Line& there, const Line& here) {
  if (there == here) return {};
  if (there.name != here.name)
    return fmt::format("differs in what it compares: {} there, {} here", there.name, here.name);
  if (there.shown == here.shown)
    return fmt::format(
        "differs in {}: {} characters there, {} here, of which the first {} are the "
        "same",
        here.name, there.length, here.length, here.shown.size());
  return fmt::format("differs in {}: {} there, {} here", here.name, there.shown, here.shown);
}

std::string difference(const Manifest& there, const Manifest& here) {
  if (there.protocol != here.protocol || there.version != here.version)
    return fmt::format("differs in version: narrowcast {} (protocol {}) there, {} ({}) here",
                       there.version, there.protocol, here.version, here.protocol);
  const std::size_t common = std::min(there.lines.size(), here.lines.size());
  for (std::size_t i = 0; i < common; ++i)
    if (std::string found = difference(there.lines[i], here.lines[i]); !found.empty()) return found;
  if (there.lines.size() != here.lines.size())
    return fmt::format("differs in what it compares: {} terms there, {} here", there.lines.size(),
                       here.lines.size());
  return {};
}

}  // namespace

void agree(Transport& net, std::span<const Term> terms) {
  const Manifest own = manifest_of(terms);
  const Letters theirs = meet(net, kAgreementChannel, Letters(net.size(), write(own)), kLongest);
  std::string first;
  std::vector<int> others;
  for (int peer = 0; peer < net.size(); ++peer) {
    if (peer == net.rank()) continue;
    const std::string found = difference(Reader(peer, theirs[peer]).manifest(), own);
    if (found.empty()) continue;
    if (first.empty())
      first = fmt::format("rank {} {}", peer, found);
    else
      others.push_back(peer);
  }
  if (first.empty()) return;
  if (!others.empty())
    first += fmt::format(" (other ranks that differ: {})", fmt::join(others, ", "));
  throw Error(Fault::peer, first);
}

}  // namespace narrowcast
