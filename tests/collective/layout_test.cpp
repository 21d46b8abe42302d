#include "collective/pipeline/layout.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tests/collective/trial.hpp"
#include "tests/support/catalogue.hpp"

namespace narrowcast::test {
namespace {

// Every value is in one chunk of one shard, and cuts are at block borders.
void expect_covers(const Layout& layout, Pieces pieces) {
  std::vector<std::map<std::size_t, std::size_t>> found(pieces.size());  // begin -> end
  for (int shard = 0; shard < layout.size(); ++shard)
    for (const Chunk& chunk : layout.shard(shard)) {
      EXPECT_GT(chunk.values, 0U);
      for (const Part& part : chunk.parts) {
        EXPECT_GT(part.count, 0U);
        EXPECT_TRUE(found[part.piece].emplace(part.begin, part.begin + part.count).second);
      }
    }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::size_t block = pieces[i].codec->promise().block;
    std::size_t covered = 0;
    for (const auto& [begin, end] : found[i]) {
      EXPECT_EQ(begin, covered);
      if (block == 0)
        EXPECT_EQ(begin, 0U);
      else
        EXPECT_EQ(begin % block, 0U);
      covered = end;
    }
    EXPECT_EQ(covered, pieces[i].values.size());
  }
}

TEST(Layout, CoversEverythingOnceAndCutsOnlyAtBlockBorders) {
  for (const std::string& spec : every_spec()) {
    SCOPED_TRACE(spec);
    const std::vector<Tensor> tensors = {
        {spec, 0, 0}, {spec, 1, 1}, {"fp32", 777, 2}, {spec, 4099, 3}, {spec, 100'000, 4}};
    const auto codecs = codecs_of(tensors);
    Values values;
    for (const Tensor& tensor : tensors) values.emplace_back(tensor.values);
    const std::vector<Piece> pieces = pieces_of(tensors, codecs, values);
    for (const int ranks : {1, 2, 3, 7, 64})
      for (const std::size_t chunk : {1U, 1000U, 1U << 20}) {
        expect_covers(Layout::shards(pieces, ranks, chunk), pieces);
        expect_covers(Layout::whole(pieces, chunk), pieces);
        expect_covers(Layout::one_each(pieces, chunk), pieces);
      }
  }
}

TEST(Layout, SharesLargeTensorsEvenly) {
  const std::vector<Tensor> tensors = {{"dynamic8:block=256", 1'000'000, 5}};
  const auto codecs = codecs_of(tensors);
  Values values = {std::vector<float>(1'000'000)};
  const std::vector<Piece> pieces = pieces_of(tensors, codecs, values);
  const Layout layout = Layout::shards(pieces, 7, 1 << 20);
  for (int shard = 0; shard < 7; ++shard)
    EXPECT_NEAR(static_cast<double>(layout.extent(shard).values), 1'000'000.0 / 7, 256);
}

TEST(Layout, SpreadsTensorsThatAreTooSmallToCut) {
  std::vector<Tensor> tensors;
  Values values;
  for (std::uint64_t id = 0; id < 64; ++id) {
    tensors.push_back({"dynamic8:block=4096", 100, id, 0});
    values.emplace_back(100);
  }
  const auto codecs = codecs_of(tensors);
  const std::vector<Piece> pieces = pieces_of(tensors, codecs, values);
  const Layout layout = Layout::shards(pieces, 4, 1 << 20);
  for (int shard = 0; shard < 4; ++shard) EXPECT_EQ(layout.extent(shard).values, 1600U);
}

}  // namespace
}  // namespace narrowcast::test
