#include <gmock/gmock.h>

#include "tests/support/catalogue.hpp"
#include "tests/support/check.hpp"

namespace narrowcast::test {
namespace {

using testing::HasSubstr;

// The message of the Fault::usage that a spec must end in.
std::string refusal(const std::string& spec, const TensorShape& shape = {}) {
  try {
    const std::unique_ptr<Codec> codec = make_codec(spec, shape);
    ADD_FAILURE() << "'" << spec << "' was taken as '" << codec->spec() << "'";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage) << spec;
    return error.what();
  }
  return {};
}

// A spec of the row with all that it requires, e.g. "float:e=5,m=2"; options follow after `joint`.
struct Base {
  std::string spec;
  std::string joint;
};

Base base_of(const CodecRow& row) {
  Base base{std::string(row.name), ":"};
  try {
    make_codec(base.spec);
  } catch (const Error&) {
    base = {std::string(row.variants.front()), ","};
  }
  return base;
}

bool mentions(std::string_view spec, std::string_view key) {
  return spec.find(std::string(key) + "=") != std::string_view::npos;
}

TEST(EverySpec, IsItsOwnCanonicalFormOnceResolved) {
  for_every_codec(
      [](const Codec& codec) { EXPECT_EQ(make_codec(codec.spec())->spec(), codec.spec()); });
}

TEST(EverySpec, NamesEveryOptionOnceResolved) {
  for (const CodecRow& row : codecs())
    for (const std::string_view variant : row.variants)
      for (const Option& option : row.options)
        EXPECT_TRUE(mentions(make_codec(variant)->spec(), option.key)) << variant << option.key;
}

TEST(EverySpec, GivesAnEqualCodecFromItsCanonicalForm) {
  for_every_codec([](const Codec& codec) {
    const std::unique_ptr<Codec> twin = make_codec(codec.spec());
    EXPECT_EQ(twin->promise().block, codec.promise().block);
    EXPECT_EQ(twin->promise().of_block, codec.promise().of_block);
    EXPECT_EQ(twin->promise().of_value, codec.promise().of_value);
    EXPECT_EQ(twin->promise().absolute, codec.promise().absolute);
    EXPECT_EQ(twin->promise().largest, codec.promise().largest);
    EXPECT_EQ(twin->promise().bias, codec.promise().bias);
    EXPECT_EQ(twin->promise().non_finite, codec.promise().non_finite);
    EXPECT_EQ(twin->max_bytes(12345), codec.max_bytes(12345));
  });
}

TEST(EverySpec, MeansTheSameInAnyOrder) {
  EXPECT_EQ(make_codec("qsgd:norm=l2,bits=8")->spec(), make_codec("qsgd:bits=8,norm=l2")->spec());
  EXPECT_EQ(make_codec("float:m=2,e=5")->spec(), make_codec("float:e=5,m=2")->spec());
}

TEST(EverySpec, TakesTheDefaultsOfItsRow) {
  for (const CodecRow& row : codecs()) {
    const Base base = base_of(row);
    const std::string spec = make_codec(base.spec)->spec();
    for (const Option& option : row.options) {
      if (option.fallback.empty() || mentions(base.spec, option.key)) continue;
      const std::string given =
          base.spec + base.joint + std::string(option.key) + "=" + std::string(option.fallback);
      EXPECT_EQ(make_codec(given)->spec(), spec);
    }
  }
}

TEST(ASpec, WithAnUnknownNameIsAnsweredWithAllNames) {
  const std::string message = refusal("dynamic9");
  EXPECT_THAT(message, HasSubstr("dynamic9"));
  for (const CodecRow& row : codecs()) EXPECT_THAT(message, HasSubstr(std::string(row.name)));
}

TEST(ASpec, WithAnUnknownKeyIsAnsweredWithAllKeys) {
  for (const CodecRow& row : codecs()) {
    const std::string message = refusal(std::string(row.name) + ":colour=blue");
    EXPECT_THAT(message, HasSubstr("colour"));
    for (const Option& option : row.options)
      EXPECT_THAT(message, HasSubstr(std::string(option.key)));
  }
}

TEST(ASpec, WithAnUnknownValueIsAnsweredWithTheValidOnes) {
  for (const CodecRow& row : codecs())
    for (const Option& option : row.options) {
      // In place of the key's value, whether the base names it or not.
      std::string spec = std::string(row.name) + ":" + std::string(option.key) + "=blue";
      for (const Option& other : row.options)
        if (other.key != option.key && other.fallback.empty() &&
            mentions(row.variants.front(), other.key)) {
          const std::string_view variant = row.variants.front();
          const std::string_view from = variant.substr(variant.find(std::string(other.key) + "="));
          spec += "," + std::string(from.substr(0, from.find(',')));
        }
      const std::string message = refusal(spec);
      EXPECT_THAT(message, HasSubstr("blue"));
      EXPECT_THAT(message, HasSubstr(std::string(option.key)));
      EXPECT_THAT(message, HasSubstr(std::string(option.values)));
    }
}

TEST(ASpec, WithAKeyGivenTwiceIsRefused) {
  EXPECT_THAT(refusal("dynamic8:block=64,block=64"), HasSubstr("block"));
  EXPECT_THAT(refusal("float:e=5,m=2,e=5"), HasSubstr("e"));
}

TEST(ASpec, WithoutARequiredOptionNamesIt) {
  EXPECT_THAT(refusal("float"), HasSubstr("e"));
  EXPECT_THAT(refusal("float:e=5"), HasSubstr("m"));
}

TEST(ASpec, WithANumberOutOfRangeIsRefused) {
  for (const char* spec :
       {"float:e=0,m=2", "float:e=9,m=2", "float:e=5,m=24", "float:e=5,m=-1", "qsgd:bits=1",
        "qsgd:bits=9", "qsgd:bits=17", "qsgd:bits=15", "qsgd:bucket=0", "qsgd:bucket=-512",
        "dynamic8:block=-1", "onebit:column=0", "dynamic8:block=18446744073709551616",
        "dynamic8:block=99999999999999999999999", "dynamic8:block=9223372036854775807"})
    refusal(spec);
}

TEST(ASpec, ThatIsNotWellFormedIsRefused) {
  for (const char* spec : {"",
                           ":",
                           ",",
                           "=",
                           " fp32",
                           "fp32 ",
                           "FP32",
                           "fp32:",
                           "dynamic8:",
                           "dynamic8:,",
                           "dynamic8:block",
                           "dynamic8:block=",
                           "dynamic8:block=64,",
                           "dynamic8:,block=64",
                           "dynamic8:block=64,,rounding=paper",
                           "dynamic8:block==64",
                           "dynamic8:=64",
                           "dynamic8::block=64",
                           "dynamic8:block=64:rounding=paper",
                           "dynamic8:block= 64",
                           "dynamic8:block=+64",
                           "dynamic8:block=64.0",
                           "dynamic8:block=6e1",
                           "dynamic8:block=0x40",
                           "dynamic8:Block=64",
                           "dynamic8:rounding=Paper",
                           "e4m3:overflow=special|saturate"})
    refusal(spec);
}

TEST(ASpec, MayHoldAnyBytesAndIsStillAnswered) {
  refusal(std::string("fp32\0", 5));
  refusal(std::string(100'000, 'x'));
  refusal("dynamic8:" + std::string(100'000, ','));
  refusal("dynamic8:block=" + std::string(100'000, '9'));
}

TEST(ASpec, WithColumnShapeNeedsTheShape) {
  EXPECT_THAT(refusal("onebit:column=shape"), HasSubstr("shape"));
  const auto codec = make_codec("onebit:column=shape", {.innermost = 48});
  EXPECT_EQ(codec->spec(), make_codec("onebit:column=48")->spec());
}

TEST(ASpec, WithLeadingZerosHasTheSameCanonicalForm) {
  EXPECT_EQ(make_codec("dynamic8:block=064")->spec(), make_codec("dynamic8:block=64")->spec());
}

}  // namespace
}  // namespace narrowcast::test
