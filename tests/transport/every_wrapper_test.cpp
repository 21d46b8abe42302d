#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/support/ranks.hpp"
#include "tests/transport/contract.hpp"
#include "transport/counting.hpp"
#include "transport/faulty.hpp"
#include "transport/inproc.hpp"
#include "transport/sealed.hpp"
#include "transport/shaped.hpp"

namespace narrowcast::test {
namespace {

using Owned = std::unique_ptr<Transport>;

struct WrapperRow {
  std::string_view name;
  Owned (*wrap)(Owned inner);
};

Owned count(Owned inner) { return std::make_unique<Counting>(std::move(inner)); }

Owned slow(Owned inner) {
  return shaped(std::move(inner),
                {.bytes_per_second = 1e9, .latency = std::chrono::microseconds(20)});
}

Owned harmless(Owned inner) { return faulty(std::move(inner), {}); }

Owned late(Owned inner) {
  return faulty(std::move(inner),
                {.seed = 1, .delay = 0.1, .longest_delay = std::chrono::microseconds(200)});
}

Owned with_checksums(Owned inner) { return seal(std::move(inner), {}); }

Owned authentic(Owned inner) { return seal(std::move(inner), {.key = JobKey{}}); }

Owned encrypted(Owned inner) {
  return seal(std::move(inner), {.key = JobKey{}, .secrecy = Secrecy::encrypted});
}

Owned all_of_them(Owned inner) { return count(encrypted(harmless(slow(std::move(inner))))); }

constexpr WrapperRow kWrappers[] = {
    {"Counting", count},      {"Shaped", slow},           {"Faulty", harmless},
    {"Late", late},           {"Sealed", with_checksums}, {"Authentic", authentic},
    {"Encrypted", encrypted}, {"AllOfThem", all_of_them},
};

// Wrappers that use the stamps themselves take none from above.
bool uses_stamps(std::string_view wrapper) {
  return wrapper == "Sealed" || wrapper == "Authentic" || wrapper == "Encrypted" ||
         wrapper == "AllOfThem";
}

bool sends_stamps(std::string_view clause) {
  return clause == "CarriesLengthAndStamp" || clause == "CarriesEmptyMessages";
}

class EveryWrapper : public testing::TestWithParam<std::tuple<WrapperRow, Clause>> {};

TEST_P(EveryWrapper, KeepsTheContractOfATransport) {
  const auto& [row, clause] = GetParam();
  if (uses_stamps(row.name) && sends_stamps(clause.name)) GTEST_SKIP() << "it needs the stamps";
  Hub hub(clause.ranks + 1, kTestTimeout);
  on_ranks([&, wrap = row.wrap](int rank) { return wrap(hub.connect(rank)); }, clause.ranks + 1,
           clause.run);
}

INSTANTIATE_TEST_SUITE_P(, EveryWrapper,
                         testing::Combine(testing::ValuesIn(kWrappers),
                                          testing::ValuesIn(contract().begin(), contract().end())),
                         [](const auto& pair) {
                           return std::string(std::get<0>(pair.param).name) +
                                  std::string(std::get<1>(pair.param).name);
                         });

}  // namespace
}  // namespace narrowcast::test
