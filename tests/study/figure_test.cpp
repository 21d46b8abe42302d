#include "study/page/figure.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "study/page/page.hpp"

namespace narrowcast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Figure figure_of(Table table) {
  return {.id = "speeds", .title = "Speeds", .table = std::move(table), .showing = Showing::open};
}

// Two networks on two links in two codecs, one of them missing.
Figure gains() {
  Figure figure =
      figure_of({.columns = {{.name = "network"},
                             {.name = "workers", .kind = ColumnKind::number},
                             {.name = "codec"},
                             {.name = "gain", .kind = ColumnKind::number, .decimals = 2},
                             {.name = "from", .kind = ColumnKind::low},
                             {.name = "to", .kind = ColumnKind::high}},
                 .rows = {{"mlp", 2.0, "a", 1.0, 0.5, 1.5},
                          {"mlp", 2.0, "b", 4.0, 3.5, 4.5},
                          {"lstm", 2.0, "b", 0.25, {}, {}}}});
  figure.look = {.drawing = Drawing::heat,
                 .y = "gain",
                 .series = "codec",
                 .facets = {"network", "workers"},
                 .mark = 1};
  return figure;
}

TEST(AFigureAsCsv, QuotesWhatHasCommasQuotesAndLines) {
  const Table table{
      .columns = {{.name = "codec"}, {.name = "step", .kind = ColumnKind::number, .unit = "ms"}},
      .rows = {{"float:e=4,m=3", 1.5}, {"a \"b\"\nc", 1e-7}, {"", {}}}};
  EXPECT_EQ("codec,step (ms)\r\n\"float:e=4,m=3\",1.5\r\n\"a \"\"b\"\"\nc\",1e-07\r\n,\r\n",
            csv_of(table));
}

TEST(AFigureAsCsv, SaysInEveryRowWhatIsTheSameInAll) {
  const Table table{.columns = {{.name = "codec"}},
                    .rows = {{"fp32"}, {"fp16"}},
                    .constants = {{"workers", "2"}}};
  EXPECT_EQ("codec,workers\r\nfp32,2\r\nfp16,2\r\n", csv_of(table));
}

TEST(AFigureAsCsv, HasNoFormulas) {
  const Table table{.columns = {{.name = "=codec"}, {.name = "off", .kind = ColumnKind::number}},
                    .rows = {{"=HYPERLINK(\"x\",1)", -1.5},
                             {"@sum", {}},
                             {"+1|2", {}},
                             {"-cmd", {}},
                             {"\t=1", {}},
                             {"-2.5", {}},
                             {"+3", {}},
                             {"-", {}}},
                    .constants = {{"link", "=1"}}};
  EXPECT_EQ(
      "'=codec,off,link\r\n\"'=HYPERLINK(\"\"x\"\",1)\",-1.5,'=1\r\n'@sum,,'=1\r\n'+1|2,,'=1\r\n"
      "'-cmd,,'=1\r\n'\t=1,,'=1\r\n-2.5,,'=1\r\n+3,,'=1\r\n-,,'=1\r\n",
      csv_of(table));
}

TEST(AFigureAsCsv, HasAllDigitsOfNumbers) {
  const Table table{.columns = {{.name = "x", .kind = ColumnKind::number, .decimals = 1}},
                    .rows = {{1.0 / 3}}};
  EXPECT_EQ("x\r\n0.3333333333333333\r\n", csv_of(table));
}

TEST(AValue, ThatIsNotFiniteIsNotThere) {
  EXPECT_EQ(TableValue(), value_of(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(TableValue(), value_of(std::numeric_limits<double>::infinity()));
  EXPECT_EQ(TableValue(), value_of(std::nullopt));
  EXPECT_EQ(TableValue(2.0), value_of(2));
}

std::string shown(const std::vector<double>& column, double number) {
  Table table{.columns = {{.name = "x", .kind = ColumnKind::number}}};
  for (const double each : column) table.rows.push_back({each});
  return NumberText(table, 0)(number);
}

TEST(AColumnOfNumbers, HasTheSameDecimalsThroughout) {
  EXPECT_EQ("1.50", shown({1.5, 2.25, 12}, 1.5));
  EXPECT_EQ("12.00", shown({1.5, 2.25, 12}, 12));
  EXPECT_EQ("2", shown({2, 4, 1024}, 2));
  EXPECT_EQ("0.0123", shown({0.0123, 0.045}, 0.0123));
  EXPECT_EQ("2.4e-05", shown({2.4e-5, 1}, 2.4e-5));
  EXPECT_EQ("0.00", shown({1.5, -1e-9 - 1}, -1e-9));  // without a sign
}

TEST(AHeatMap, HasARowForEachSettingAndAColumnForEachCodec) {
  const Table table = pivoted(gains());
  ASSERT_EQ(4u, table.columns.size());
  EXPECT_EQ("b", table.columns[3].name);
  EXPECT_THAT(
      table.rows,
      ElementsAre(
          ElementsAre(TableValue("mlp"), TableValue(2.0), TableValue(1.0), TableValue(4.0)),
          ElementsAre(TableValue("lstm"), TableValue(2.0), TableValue(), TableValue(0.25))));
}

TEST(AHeatMap, IsColouredByHowFarItIsFromTheMark) {
  const std::string html = html_of(gains(), CsvFiles::none);
  EXPECT_THAT(html, HasSubstr("style=\"--heat:1.00\" data-heat=\"up\">4.00"));
  EXPECT_THAT(html, HasSubstr("style=\"--heat:1.00\" data-heat=\"down\">0.25"));
  EXPECT_THAT(html, HasSubstr("data-v=\"1\">1.00"));
}

TEST(AFigure, HasAChartForEachCombinationOfItsFacets) {
  Figure figure = gains();
  const std::vector<Facet> facets = facets_of(figure);
  ASSERT_EQ(2u, facets.size());
  EXPECT_EQ("mlp \u00b7 workers 2", facets[0].label);
  EXPECT_THAT(facets[0].rows, ElementsAre(0, 1));
  figure.look.drawing = Drawing::bars;
  figure.look.x = "codec";
  EXPECT_THAT(html_of(figure, CsvFiles::none), HasSubstr("data-facet=\"1\""));
}

TEST(AFigure, HasNoChartWithoutAValue) {
  Figure figure = gains();
  figure.table.rows[2][3] = {};
  figure.look.drawing = Drawing::dots;
  figure.look.x = "codec";
  const std::vector<Facet> facets = drawn_facets(figure);
  ASSERT_EQ(1u, facets.size());
  EXPECT_EQ("mlp \u00b7 workers 2", facets[0].label);
  const std::string html = html_of(figure, CsvFiles::none);
  EXPECT_THAT(html, Not(HasSubstr("<h4>lstm")));
  EXPECT_THAT(html, HasSubstr("\"facets\":[[0,1]]"));
  for (auto& row : figure.table.rows) row[3] = {};
  EXPECT_THAT(html_of(figure, CsvFiles::none), Not(HasSubstr("<canvas")));
}

TEST(AFigure, HasItsKeysInOneCellForNarrowPages) {
  Figure figure = gains();
  figure.table.columns[0].is_key = true;
  EXPECT_THAT(html_of(figure, CsvFiles::none), Not(HasSubstr("class=\"keys\"")));  // one is narrow
  figure.table.columns[1].is_key = true;
  const std::string html = html_of(figure, CsvFiles::none);
  EXPECT_THAT(html, HasSubstr("<th scope=\"col\" class=\"keys\">network \u00b7 workers</th>"
                              "<th scope=\"col\" class=\"key\">network</th>"
                              "<th scope=\"col\" class=\"n key\">workers</th>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"keys\">lstm \u00b7 workers 2</td>"
                              "<td class=\"s key\">lstm</td>"
                              "<td class=\"n key\" data-v=\"2\">2</td>"));
  EXPECT_EQ(csv_of(gains().table), csv_of(figure.table));
}

TEST(AFigure, LetsPeopleChooseWhereThereAreManyCharts) {
  Figure figure =
      figure_of({.columns = {{.name = "net"}, {.name = "x", .kind = ColumnKind::number}}});
  figure.look = {.drawing = Drawing::bars, .x = "net", .y = "x", .facets = {"net"}};
  for (int i = 0; i < 7; ++i) figure.table.rows.push_back({"net " + std::to_string(i), 1.0 * i});
  const std::string html = html_of(figure, CsvFiles::none);
  EXPECT_THAT(html, HasSubstr("<option value=\"6\">net 6</option>"));
  EXPECT_THAT(html, Not(HasSubstr("data-facet=\"1\"")));
}

TEST(AFigure, SaysANumberTogetherWithItsBounds) {
  Figure figure = gains();
  figure.look = {};
  const std::string html = html_of(figure, CsvFiles::none);
  EXPECT_THAT(html, HasSubstr("4.00<span class=\"between\">3.50 to 4.50</span>"));
  EXPECT_THAT(html, Not(HasSubstr(">from<")));
  EXPECT_THAT(markdown_of({.title = "t", .sections = {{"s", "S", {figure}}}}),
              HasSubstr("| mlp | 2 | b | 4.00 (3.50 to 4.50) |"));
}

TEST(AFigure, HasItsFileBesideWhereThereAreFiles) {
  EXPECT_THAT(html_of(gains(), CsvFiles::beside), HasSubstr("href=\"speeds.csv\""));
  EXPECT_THAT(html_of(gains(), CsvFiles::none), Not(HasSubstr("speeds.csv")));
}

TEST(AFigure, LetsNoTextOutOfItsPlace) {
  Figure figure =
      figure_of({.columns = {{.name = "<i>"}, {.name = "to repeat it", .kind = ColumnKind::code}},
                 .rows = {{"</script><script>alert(1)</script>", "a | `b` \"c\""}}});
  figure.title = "A \"title\" <b>";
  const std::string html = html_of(figure, CsvFiles::none);
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(html, Not(HasSubstr("<i>")));
  EXPECT_THAT(html, Not(HasSubstr("<b>")));
  EXPECT_THAT(html, HasSubstr("aria-label=\"A &quot;title&quot; &lt;b&gt;\""));
  EXPECT_THAT(html, HasSubstr("\\u003c/script>"));  // in the data
  const std::string markdown = markdown_of({.title = "t", .sections = {{"s", "S", {figure}}}});
  EXPECT_THAT(markdown, HasSubstr("\\</script\\>\\<script\\>alert(1)"));
  EXPECT_THAT(markdown, HasSubstr("| a \\| \\`b\\` \"c\" |"));
}

TEST(AFigure, HasAFoldForEachValueWhereItIsAsked) {
  Figure figure = gains();
  figure.look = {};
  figure.fold_by = "network";
  const std::string html = html_of(figure, CsvFiles::none);
  EXPECT_THAT(html, HasSubstr("<summary>mlp (2)</summary>"));
  EXPECT_THAT(html, HasSubstr("<summary>lstm (1)</summary>"));
  EXPECT_THAT(html, Not(HasSubstr("<td>mlp</td>")));
}

TEST(AFigure, ThatIsAllFoldedSaysOnPaperWhereItsRowsAre) {
  Figure figure = gains();
  figure.look = {};
  EXPECT_THAT(html_of(figure, CsvFiles::beside), Not(HasSubstr("unprinted")));
  figure.fold_by = "network";
  EXPECT_THAT(html_of(figure, CsvFiles::beside),
              HasSubstr("<p class=\"unprinted\">3 rows in speeds.csv.</p>"));
  EXPECT_THAT(html_of(figure, CsvFiles::none),
              HasSubstr("<p class=\"unprinted\">3 rows that are not printed.</p>"));
}

TEST(Markdown, LeavesLongTablesToTheirFiles) {
  Figure figure = gains();
  figure.look = {};
  while (figure.table.rows.size() < 100) figure.table.rows.push_back(figure.table.rows.front());
  const std::string markdown = markdown_of({.title = "t", .sections = {{"s", "S", {figure}}}});
  EXPECT_THAT(markdown, HasSubstr("100 rows: [speeds.csv](speeds.csv)"));
  EXPECT_THAT(markdown, Not(HasSubstr("| mlp |")));
}

}  // namespace
}  // namespace narrowcast::test
