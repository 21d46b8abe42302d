#include "predict/papers.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/error.hpp"

namespace narrowcast {
namespace {

constexpr std::string_view kStep = "T=104.1 ms";
constexpr std::string_view kSlowStep = "T=177 ms";

// A cell of a paper, and how far off a model that claims to be the paper's may be.
struct Cell {
  std::string_view quantity;
  std::string_view setting;
  int bits;
  int batch;
  double printed = 0;
  double tolerance_percent = 0;
};

const PaperFigure* find(const std::vector<PaperFigure>& figures, const Cell& cell) {
  const auto found = std::ranges::find_if(figures, [&](const PaperFigure& figure) {
    return figure.quantity == cell.quantity && figure.setting == cell.setting &&
           figure.bits == cell.bits && figure.batch == cell.batch;
  });
  return found == figures.end() ? nullptr : &*found;
}

double computed(std::string_view model, Errata errata, const Cell& cell) {
  const std::vector<PaperFigure> figures = paper_model(model).figures(errata);
  const PaperFigure* const figure = find(figures, cell);
  EXPECT_NE(nullptr, figure) << cell.quantity << " " << cell.bits << " " << cell.batch;
  return figure == nullptr ? std::nan("") : figure->computed;
}

void expect_cells(std::string_view model, std::span<const Cell> cells) {
  const std::vector<PaperFigure> figures = paper_model(model).figures(Errata::as_printed);
  for (const Cell& cell : cells) {
    SCOPED_TRACE(testing::Message() << cell.quantity << " " << cell.setting << " " << cell.bits
                                    << " bits, batch " << cell.batch);
    const PaperFigure* const figure = find(figures, cell);
    ASSERT_NE(nullptr, figure);
    EXPECT_EQ(cell.printed, figure->printed);
    EXPECT_LE(100 * std::abs(figure->computed / cell.printed - 1), cell.tolerance_percent)
        << figure->computed;
  }
}

constexpr Cell kNodeCells[] = {
    {"speedup", kStep, 32, 128, 3.53, 3},
    {"speedup", kStep, 8, 128, 3.67, 3},
    {"speedup", kSlowStep, 32, 128, 3.71, 3},
    {"speedup", kSlowStep, 8, 128, 3.80, 3},
};

constexpr Cell kClusterCells[] = {
    {"S ms", "", 32, 128, 2.1, 3},
    {"total ms", "", 32, 128, 650, 3},
    {"speedup", kStep, 32, 128, 13.4, 3},
    {"speedup", kSlowStep, 32, 128, 20.7, 3},
    {"S ms", "", 8, 128, .35, 3},
    {"total ms", "", 8, 128, 624, 3},
    {"speedup", kStep, 8, 128, 13.8, 3},
    {"speedup", kSlowStep, 8, 128, 21.4, 3},

    {"S ms", "", 32, 256, 4.2, 3},
    {"total ms", "", 32, 256, 402, 3},
    {"speedup", kStep, 32, 256, 20, 3},
    {"speedup", kSlowStep, 32, 256, 29.7, 3},
    {"S ms", "", 8, 256, .55, 3},
    {"total ms", "", 8, 256, 312, 3},
    {"speedup", kStep, 8, 256, 24.4, 3},
    {"speedup", kSlowStep, 8, 256, 35.2, 3},

    {"S ms", "", 32, 512, 7.15, 3},
    {"total ms", "", 32, 512, 337, 3},
    {"speedup", kStep, 32, 512, 23, 3},
    {"speedup", kSlowStep, 32, 512, 33.5, 3},
    {"S ms", "", 8, 512, 1.13, 3},
    {"total ms", "", 8, 512, 157, 3},
    {"speedup", kStep, 8, 512, 39.3, 3},
    {"speedup", kSlowStep, 8, 512, 51.9, 3},

    {"S ms", "", 32, 1024, 17.4, 3},
    {"total ms", "", 32, 1024, 577, 3},
    {"speedup", kStep, 32, 1024, 14.8, 3},
    {"speedup", kSlowStep, 32, 1024, 22.7, 3},
    {"S ms", "", 8, 1024, 2.25, 3},
    {"total ms", "", 8, 1024, 108, 3},
    {"speedup", kStep, 8, 1024, 48.6, 3},
    {"speedup", kSlowStep, 8, 1024, 61, 3},

    {"S ms", "", 32, 2048, 25.5, 3},
    {"total ms", "", 32, 2048, 789, 3},
    {"speedup", kStep, 32, 2048, 11.3, 3},
    {"speedup", kSlowStep, 32, 2048, 17.7, 3},
    {"S ms", "", 8, 2048, 3.26, 3},
    {"total ms", "", 8, 2048, 100, 3},
    {"speedup", kStep, 8, 2048, 50.6, 3},
    {"speedup", kSlowStep, 8, 2048, 62.8, 3},

    {"S ms", "", 32, 12288, 250, 5},
    {"total ms", "", 32, 12288, 7750, 5},
    {"speedup", kStep, 32, 12288, 1.3, 5},
    {"speedup", kSlowStep, 32, 12288, 2.15, 5},
    {"S ms", "", 8, 12288, 31, 5},
    {"total ms", "", 8, 12288, 928, 5},
    {"speedup", kStep, 8, 12288, 9.7, 5},
    {"speedup", kSlowStep, 8, 12288, 15.5, 5},

    // The headline, with the other reading of a gigabyte.
    {"speedup, GB=10^6 kB", kStep, 32, 512, 23, 3},
    {"speedup, GB=10^6 kB", kStep, 8, 2048, 50.6, 3},
};

TEST(PaperModels, HoldEveryCellThatIsPrintedForANode) { expect_cells("d16-node", kNodeCells); }

TEST(PaperModels, HoldEveryCellThatIsPrintedForTheCluster) {
  expect_cells("d16-cluster", kClusterCells);
}

TEST(PaperModels, PrintNoCellThatIsNotHeldHere) {
  const auto printed = [](std::string_view model) {
    return std::ranges::count_if(
        paper_model(model).figures(Errata::as_printed),
        [](const PaperFigure& figure) { return figure.printed.has_value(); });
  };
  EXPECT_EQ(std::ssize(kNodeCells), printed("d16-node"));
  EXPECT_EQ(std::ssize(kClusterCells), printed("d16-cluster"));
  EXPECT_EQ(2, printed("a20-steps"));
}

double to_one_place(double value) { return std::round(value * 10) / 10; }

TEST(D16Cluster, GivesTheHeadlineToItsLastDigit) {
  EXPECT_EQ(23.0,
            to_one_place(computed("d16-cluster", Errata::as_printed, {"speedup", kStep, 32, 512})));
  EXPECT_EQ(50.6,
            to_one_place(computed("d16-cluster", Errata::as_printed, {"speedup", kStep, 8, 2048})));
}

TEST(D16Cluster, MissesTheHeadlineWithGigabytesOfThousands) {
  constexpr std::string_view kQuantity = "speedup, GB=10^6 kB";
  EXPECT_EQ(22.7,
            to_one_place(computed("d16-cluster", Errata::as_printed, {kQuantity, kStep, 32, 512})));
  EXPECT_EQ(49.8,
            to_one_place(computed("d16-cluster", Errata::as_printed, {kQuantity, kStep, 8, 2048})));
}

double best_speedup(Errata errata, int bits) {
  double best = 0;
  for (const PaperFigure& figure : paper_model("d16-cluster").figures(errata))
    if (figure.quantity == "speedup" && figure.setting == kStep && figure.bits == bits)
      best = std::max(best, figure.computed);
  return best;
}

TEST(D16Cluster, GainsLessWhenEightBitMessagesAreAQuarter) {
  const double eight = best_speedup(Errata::corrected, 8);
  EXPECT_GE(eight, 38);
  EXPECT_LE(eight, 42);
  EXPECT_LT(eight, best_speedup(Errata::as_printed, 8));
}

TEST(D16Cluster, GainsAsMuchAsBeforeAtThirtyTwoBits) {
  EXPECT_EQ(best_speedup(Errata::as_printed, 32), best_speedup(Errata::corrected, 32));
  EXPECT_EQ(23, std::lround(best_speedup(Errata::corrected, 32)));
}

// The paper's terms by hand: messages of half a byte a value become twice as large, one latency was
// that of the row before, and each node compresses its own values and decompresses those of 31.
TEST(D16Cluster, CountsWhatWasLeftOut) {
  constexpr Cell kSum = {"S ms", "", 8, 2048};
  const double values = 2048.0 * 9216 / 32;
  const double half_byte_ms = values * 0.5 / std::exp2(30) * 1e3;
  const double more =
      half_byte_ms * (11 / 5.0 + 31 / 6.0) + 31 * (.07 - .04) + values * (0.10 + 31 * 0.05) / 1e6;
  EXPECT_NEAR(more,
              computed("d16-cluster", Errata::corrected, kSum) -
                  computed("d16-cluster", Errata::as_printed, kSum),
              1e-9);
}

TEST(D16Cluster, UsesTheLatencyOfTheRowWhenCorrected) {
  constexpr Cell kSum = {"S ms", "", 32, 2048};
  EXPECT_NEAR(31 * (.7 - .3),
              computed("d16-cluster", Errata::corrected, kSum) -
                  computed("d16-cluster", Errata::as_printed, kSum),
              1e-9);
  for (const int batch : {128, 256, 512, 1024, 12288}) {
    const Cell sum = {"S ms", "", 32, batch};
    EXPECT_EQ(computed("d16-cluster", Errata::corrected, sum),
              computed("d16-cluster", Errata::as_printed, sum));
  }
}

// What the fully connected layers of a sub-batch cost, out of two speedups that differ in nothing else.
double fc_ms(int bits, int batch) {
  const auto total_ms = [&](std::string_view quantity) {
    return 96 * 104.1 / computed("d16-cluster", Errata::corrected, {quantity, kStep, bits, batch});
  };
  return 6.5 + (total_ms("speedup, fc by b") - total_ms("speedup")) * batch / 12288;
}

TEST(D16Cluster, LetsTheCostOfLayersDependOnTheSubBatch) {
  for (const int bits : {32, 8}) {
    const double each_image = (fc_ms(bits, 2048) - fc_ms(bits, 1024)) / 1024;
    for (const int batch : {128, 256, 512, 12288})
      EXPECT_NEAR(fc_ms(bits, 1024) + (batch - 1024) * each_image, fc_ms(bits, batch), 1e-9);
    // As measured: 128 images for each GPU on all of them, and a quarter of that work (3072).
    EXPECT_NEAR(6.5, fc_ms(bits, 12288), 1e-9);
    EXPECT_NEAR(3.34, fc_ms(bits, 1024) + (3072 - 1024) * each_image, 1e-9);
  }
}

TEST(D16Node, HasNothingToMend) {
  for (const Cell& cell : kNodeCells)
    EXPECT_EQ(computed("d16-node", Errata::as_printed, cell),
              computed("d16-node", Errata::corrected, cell));
}

TEST(A20Steps, CountsTheStepsOfRingAndGroups) {
  constexpr std::string_view kSteps = "steps";
  for (const Errata errata : {Errata::as_printed, Errata::corrected}) {
    const std::vector<PaperFigure> figures = paper_model("a20-steps").figures(errata);
    const auto expect = [&](std::string_view setting, double steps, std::optional<double> printed) {
      const PaperFigure* const figure = find(figures, {kSteps, setting, 8, 0});
      ASSERT_NE(nullptr, figure) << setting;
      EXPECT_EQ(steps, figure->computed) << setting;
      EXPECT_EQ(printed, figure->printed) << setting;
    };
    expect("p=256, ring", 510, 510);
    expect("p=256, k=4", 138, std::nullopt);
    expect("p=256, k=8", 90, std::nullopt);
    expect("p=256, k=16", 90, 74);  // the paper's mistake
    expect("p=256, k=32", 138, std::nullopt);
    expect("p=256, k=64", 258, std::nullopt);
  }
}

TEST(PaperModels, NameEachFigureOnce) {
  for (const PaperModel& model : paper_models()) {
    for (const Errata errata : {Errata::as_printed, Errata::corrected}) {
      const std::vector<PaperFigure> figures = model.figures(errata);
      for (const PaperFigure& figure : figures)
        EXPECT_EQ(&figure,
                  find(figures, {figure.quantity, figure.setting, figure.bits, figure.batch}))
            << model.name << " " << figure.quantity;
    }
  }
}

TEST(PaperModels, AreListedWhenAnotherIsAskedFor) {
  try {
    paper_model("d61-node");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(Fault::usage, error.fault());
    for (const PaperModel& model : paper_models())
      EXPECT_THAT(error.what(), testing::HasSubstr(std::string(model.name)));
  }
}

}  // namespace
}  // namespace narrowcast
