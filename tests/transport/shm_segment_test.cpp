#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "transport/shm.hpp"
#include "transport/shm/layout.hpp"
#include "transport/shm/mapping.hpp"

// What a segment has to be before a rank joins it.
namespace narrowcast::test {
namespace {

using testing::HasSubstr;

Joining joining(int rank, int size, const std::string& rendezvous) {
  Joining joining;
  joining.place = {rank, size, rank, size};
  joining.rendezvous = rendezvous;
  joining.timeout = std::chrono::milliseconds(50);
  return joining;
}

void expect_refused(Fault fault, const std::string& text, const Joining& joining) {
  try {
    join_shm(joining);
    ADD_FAILURE() << "it joined";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(text));
  }
}

// A sealed segment for two ranks whose header somebody tampered with.
template <class Tamper>
Descriptor tampered(Tamper tamper) {
  const ShmSegment good(2);
  shm::SegmentHeader header = {};
  EXPECT_EQ(pread(good.fd(), &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
  const auto bytes = static_cast<off_t>(header.total_bytes);
  tamper(header);
  Descriptor bad(memfd_create("tampered", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(pwrite(bad.get(), &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
  EXPECT_EQ(ftruncate(bad.get(), bytes), 0);
  EXPECT_EQ(fcntl(bad.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  return bad;
}

std::string name(const Descriptor& segment) { return "fd:" + std::to_string(segment.get()); }

TEST(ShmSegment, IsRefusedUnderAnythingButADescriptor) {
  for (const char* nonsense : {"", "fd:", "fd:x", "fd:3x", "fd:-1", "tcp://localhost:1", "3"})
    expect_refused(Fault::usage, "fd:N", joining(0, 2, nonsense));
}

TEST(ShmSegment, IsRefusedWhenTheDescriptorIsNotOpen) {
  expect_refused(Fault::usage, "not open", joining(0, 2, "fd:1048575"));
}

TEST(ShmSegment, IsRefusedWhenTheDescriptorIsSomethingElse) {
  const Descriptor file(memfd_create("empty", MFD_CLOEXEC));
  expect_refused(Fault::wire, "not that of a segment", joining(0, 2, name(file)));
  const Descriptor other = tampered([](shm::SegmentHeader& header) { header.magic ^= 1; });
  expect_refused(Fault::wire, "not that of a segment", joining(0, 2, name(other)));
}

TEST(ShmSegment, IsForThisUserAlone) {
  const ShmSegment segment(2);
  struct stat status = {};
  ASSERT_EQ(0, fstat(segment.fd(), &status));
  EXPECT_EQ(S_IFREG | 0600u, status.st_mode);
  EXPECT_EQ(0u, status.st_nlink) << "it has a name";
  EXPECT_EQ(geteuid(), status.st_uid);
}

TEST(ShmSegment, OfAnOldVersionIsRefused) {
  const Descriptor old = tampered([](shm::SegmentHeader& header) { header.version = 0; });
  expect_refused(Fault::wire, "version 0, this program speaks 1", joining(0, 2, name(old)));
}

TEST(ShmSegment, OfAnotherSizeThanItSaysIsRefused) {
  const auto refuse = [](auto tamper) {
    expect_refused(Fault::wire, "size", joining(0, 2, name(tampered(tamper))));
  };
  refuse([](shm::SegmentHeader& header) { header.ranks = 3; });
  refuse([](shm::SegmentHeader& header) { header.ranks = 0; });
  refuse([](shm::SegmentHeader& header) { header.ring_bytes *= 2; });
  refuse([](shm::SegmentHeader& header) { header.ring_bytes = 0; });
  refuse([](shm::SegmentHeader& header) { header.ring_bytes += 64; });
  refuse([](shm::SegmentHeader& header) { header.ring_bytes = std::uint64_t{1} << 63; });
  refuse([](shm::SegmentHeader& header) { header.total_bytes += 1; });
}

TEST(ShmSegment, ThatCouldShrinkIsRefused) {
  const ShmSegment good(2);
  shm::SegmentHeader header = {};
  ASSERT_EQ(pread(good.fd(), &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
  const Descriptor open(memfd_create("open", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(pwrite(open.get(), &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
  ASSERT_EQ(ftruncate(open.get(), static_cast<off_t>(header.total_bytes)), 0);
  expect_refused(Fault::wire, "not sealed", joining(0, 2, name(open)));
}

TEST(ShmSegment, ThatIsAFileOnDiskIsRefused) {
  const ShmSegment good(2);
  shm::SegmentHeader header = {};
  ASSERT_EQ(pread(good.fd(), &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
  std::string path = testing::TempDir() + "segment-XXXXXX";
  const Descriptor file(mkstemp(path.data()));  // which knows no seals
  ASSERT_TRUE(file.is_open());
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(pwrite(file.get(), &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
  ASSERT_EQ(ftruncate(file.get(), static_cast<off_t>(header.total_bytes)), 0);
  expect_refused(Fault::wire, "not sealed", joining(0, 2, name(file)));
}

TEST(ShmSegment, IsForAGivenNumberOfRanks) {
  const ShmSegment segment(2);
  expect_refused(Fault::usage, "for 2 ranks, not 3", joining(0, 3, segment.rendezvous()));
  expect_refused(Fault::usage, "no rank 2 among 2", joining(2, 2, segment.rendezvous()));
  expect_refused(Fault::usage, "no rank -1 among 2", joining(-1, 2, segment.rendezvous()));
}

TEST(ShmSegment, HasOnePlaceForEachRank) {
  const ShmSegment segment(1);
  const auto net = join_shm(joining(0, 1, segment.rendezvous()));
  expect_refused(Fault::usage, "rank 0 is taken", joining(0, 1, segment.rendezvous()));
}

TEST(ShmSegment, IsLeftInGoodOrderByARankThatWaitedInVain) {
  const ShmSegment segment(2);
  expect_refused(Fault::peer, "rank 1 did not come within 0.05 s",
                 joining(0, 2, segment.rendezvous()));
  EXPECT_EQ(segment.mapping()->page(0).presence.load(), shm::Presence::left);
}

TEST(ShmSegment, StaysSmallWithManyRanks) {
  for (const int ranks : {1, 2, 16, 64, 90}) {
    const auto size = static_cast<std::size_t>(ranks);
    EXPECT_LE(size * size * shm_ring_bytes(ranks), std::size_t{512} << 20) << ranks;
  }
  EXPECT_THROW(ShmSegment(kMostShmRanks + 1), Error);
  EXPECT_THROW(ShmSegment(0), Error);
  EXPECT_THROW(ShmSegment(2, 5000), Error);
}

}  // namespace
}  // namespace narrowcast::test
