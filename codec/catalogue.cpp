#include <array>

#include "codec/codec.hpp"
#include "codec/spec.hpp"

// A codec exists when it has a row here. Commands, tests, benchmarks and documentation read the
// list.
namespace narrowcast {

std::unique_ptr<Codec> make_fp32(const Options&);
std::unique_ptr<Codec> make_fp16(const Options&);
std::unique_ptr<Codec> make_bf16(const Options&);
std::unique_ptr<Codec> make_dynamic8(const Options&);
std::unique_ptr<Codec> make_linear8(const Options&);
std::unique_ptr<Codec> make_static8(const Options&);
std::unique_ptr<Codec> make_mantissa8(const Options&);
std::unique_ptr<Codec> make_bnb8(const Options&);
std::unique_ptr<Codec> make_qsgd(const Options&);
std::unique_ptr<Codec> make_onebit(const Options&);
std::unique_ptr<Codec> make_float(const Options&);
std::unique_ptr<Codec> make_e4m3(const Options&);
std::unique_ptr<Codec> make_e5m2(const Options&);
std::unique_ptr<Codec> make_mxfp8(const Options&);
std::unique_ptr<Codec> make_mxfp6(const Options&);
std::unique_ptr<Codec> make_mxfp4(const Options&);
std::unique_ptr<Codec> make_mxint8(const Options&);
std::unique_ptr<Codec> make_tern(const Options&);
std::unique_ptr<Codec> make_natural(const Options&);

namespace {

using Specs = std::string_view;

constexpr Option kBlock{"block", "4096", "a whole number",
                        "values that share a scale; 0 = all of them"};
constexpr Option kRounding{"rounding", "nearest", "nearest|paper",
                           "paper: as D16's search kernel, toward zero in every second interval"};
constexpr Option kOffset{"offset", "0", "-30..30",
                         "decimal exponent of the range: magnitudes are multiplied by 10^offset"};
constexpr Option kScale{"scale", "floor", "floor|ceil",
                        "shared exponent by the standard, or raised so that nothing saturates"};
constexpr Option kOcpOverflow{"overflow", "special", "special|saturate",
                              "what overflow becomes: NaN or infinity, or the largest value"};

constexpr std::array kDynamicOptions{kBlock, kRounding};
constexpr std::array kLinearOptions{kBlock};
constexpr std::array kDecimalOptions{kOffset, kRounding};
constexpr std::array kBnbOptions{
    Option{"block", "4096", "a whole number from 1", "values that share a scale"}};
constexpr std::array kQsgdOptions{
    Option{"bits", "4", "2..8,16", "bits a value, the sign among them"},
    Option{"bucket", "", "a whole number from 1",
           "values that share a scale; 128 for 2 and 3 bits, 512 up to 8, 8192 for 16"},
    Option{"norm", "max", "max|l2", "the scale: largest magnitude, or Euclidean norm"},
    Option{"coding", "fixed", "fixed|elias", "levels in `bits` bits, or in Elias' omega code"}};
constexpr std::array kOnebitOptions{
    Option{"column", "64", "a whole number or shape",
           "values that share two means; shape = the tensor's innermost dimension"},
    Option{"threshold", "zero", "zero|mean", "what divides the two sides of a column"}};
constexpr std::array kFloatOptions{
    Option{"e", "", "1..8", "exponent bits", true}, Option{"m", "", "0..23", "mantissa bits", true},
    Option{"rounding", "nearest", "nearest|stochastic|zero", "ties go to the even code"},
    Option{"overflow", "inf", "inf|saturate",
           "what overflow becomes; inf is NaN where kind=fn, and with rounding=zero only infinity "
           "overflows"},
    Option{"kind", "ieee", "ieee|fn|finite",
           "infinity and NaN as IEEE, NaN alone, or numbers only"}};
constexpr std::array kOcpOptions{kOcpOverflow};
constexpr std::array kMxfp8Options{Option{"element", "e4m3", "e4m3|e5m2", "element format"},
                                   kScale};
constexpr std::array kMxfp6Options{Option{"element", "e2m3", "e2m3|e3m2", "element format"},
                                   kScale};
constexpr std::array kMxOptions{kScale};
constexpr std::array kTernOptions{
    kBlock, Option{"clip", "2.5", "0..1000", "values beyond clip * rms are clipped; 0 = none"}};

constexpr std::array kFp32Specs{Specs("fp32")};
constexpr std::array kFp16Specs{Specs("fp16")};
constexpr std::array kBf16Specs{Specs("bf16")};
constexpr std::array kDynamicSpecs{Specs("dynamic8"), Specs("dynamic8:block=0"),
                                   Specs("dynamic8:rounding=paper")};
constexpr std::array kLinearSpecs{Specs("linear8"), Specs("linear8:block=0")};
constexpr std::array kStaticSpecs{Specs("static8"), Specs("static8:rounding=paper")};
constexpr std::array kMantissaSpecs{Specs("mantissa8"), Specs("mantissa8:rounding=paper")};
constexpr std::array kBnbSpecs{Specs("bnb8")};
constexpr std::array kQsgdSpecs{Specs("qsgd:bits=2"),
                                Specs("qsgd:bits=4"),
                                Specs("qsgd:bits=8"),
                                Specs("qsgd:bits=16"),
                                Specs("qsgd:bits=3"),
                                Specs("qsgd:bits=4,norm=l2"),
                                Specs("qsgd:bits=4,norm=l2,coding=elias")};
constexpr std::array kOnebitSpecs{Specs("onebit"), Specs("onebit:column=512"),
                                  Specs("onebit:threshold=mean")};
constexpr std::array kFloatSpecs{Specs("float:e=5,m=2"),
                                 Specs("float:e=4,m=3"),
                                 Specs("float:e=3,m=0"),
                                 Specs("float:e=6,m=9"),
                                 Specs("float:e=8,m=10"),
                                 Specs("float:e=5,m=2,rounding=stochastic"),
                                 Specs("float:e=4,m=3,rounding=zero,overflow=saturate"),
                                 Specs("float:e=2,m=1,kind=finite"),
                                 Specs("float:e=3,m=0,overflow=saturate")};
constexpr std::array kE4m3Specs{Specs("e4m3"), Specs("e4m3:overflow=saturate")};
constexpr std::array kE5m2Specs{Specs("e5m2"), Specs("e5m2:overflow=saturate")};
constexpr std::array kMxfp8Specs{Specs("mxfp8"), Specs("mxfp8:element=e5m2")};
constexpr std::array kMxfp6Specs{Specs("mxfp6"), Specs("mxfp6:element=e3m2")};
constexpr std::array kMxfp4Specs{Specs("mxfp4"), Specs("mxfp4:scale=ceil")};
constexpr std::array kMxint8Specs{Specs("mxint8")};
constexpr std::array kTernSpecs{Specs("tern"), Specs("tern:clip=0")};
constexpr std::array kNaturalSpecs{Specs("natural")};

constexpr std::array kRows{
    CodecRow{"fp32", "float32 as it is: the yardstick", {}, kFp32Specs, make_fp32},
    CodecRow{"fp16", "IEEE binary16", {}, kFp16Specs, make_fp16},
    CodecRow{"bf16", "bfloat16", {}, kBf16Specs, make_bf16},
    CodecRow{"dynamic8", "D16's dynamic tree, a scale for each block", kDynamicOptions,
             kDynamicSpecs, make_dynamic8},
    CodecRow{"linear8", "D16's linear type: 127 even steps, a scale for each block", kLinearOptions,
             kLinearSpecs, make_linear8},
    CodecRow{"static8", "D16's static tree: fixed decimal range", kDecimalOptions, kStaticSpecs,
             make_static8},
    CodecRow{"mantissa8", "D16's mantissa type: fixed decimal range", kDecimalOptions,
             kMantissaSpecs, make_mantissa8},
    CodecRow{"bnb8", "the dynamic map of bitsandbytes, byte for byte", kBnbOptions, kBnbSpecs,
             make_bnb8},
    CodecRow{"qsgd", "QSGD: stochastic levels without bias", kQsgdOptions, kQsgdSpecs, make_qsgd},
    CodecRow{"onebit", "1-bit SGD: signs and two means a column", kOnebitOptions, kOnebitSpecs,
             make_onebit},
    CodecRow{"float", "any floating-point format, bit-packed", kFloatOptions, kFloatSpecs,
             make_float},
    CodecRow{"e4m3", "OCP E4M3", kOcpOptions, kE4m3Specs, make_e4m3},
    CodecRow{"e5m2", "OCP E5M2", kOcpOptions, kE5m2Specs, make_e5m2},
    CodecRow{"mxfp8", "OCP MX, 8-bit floats, 32 share a power of two", kMxfp8Options, kMxfp8Specs,
             make_mxfp8},
    CodecRow{"mxfp6", "OCP MX, 6-bit floats, 32 share a power of two", kMxfp6Options, kMxfp6Specs,
             make_mxfp6},
    CodecRow{"mxfp4", "OCP MX, 4-bit floats, 32 share a power of two", kMxOptions, kMxfp4Specs,
             make_mxfp4},
    CodecRow{"mxint8", "OCP MX, 8-bit integers, 32 share a power of two", kMxOptions, kMxint8Specs,
             make_mxint8},
    CodecRow{"tern", "TernGrad: three levels, clipped", kTernOptions, kTernSpecs, make_tern},
    CodecRow{"natural",
             "natural compression: powers of two without bias",
             {},
             kNaturalSpecs,
             make_natural},
};

}  // namespace

std::span<const CodecRow> codecs() { return kRows; }

}  // namespace narrowcast
