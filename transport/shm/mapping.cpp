#include "transport/shm/mapping.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "base/error.hpp"
#include "transport/shm.hpp"

namespace narrowcast::shm {
namespace {

// A segment that shrank under its readers would end them with SIGBUS.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

std::size_t in_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

std::size_t controls_at(std::size_t ranks) { return kPage + ranks * kPage; }

std::size_t rings_at(std::size_t ranks) {
  return controls_at(ranks) + in_pages(ranks * ranks * sizeof(RingControl));
}

std::size_t total_bytes(std::size_t ranks, std::size_t ring_bytes) {
  return rings_at(ranks) + ranks * ranks * ring_bytes;
}

bool is_ring_size(std::size_t bytes) {
  return std::has_single_bit(bytes) && bytes >= kSmallestRing;
}

Error failed(const char* what) {
  return {Fault::system, fmt::format("shm: {}: {}", what, std::strerror(errno))};
}

void write_header(int fd, const SegmentHeader& header) {
  // Whoever may look into /proc of this process could open it otherwise.
  if (fchmod(fd, S_IRUSR | S_IWUSR) != 0) throw failed("cannot keep the segment to this user");
  if (ftruncate(fd, static_cast<off_t>(header.total_bytes)) != 0)
    throw failed("cannot size the segment");
  if (pwrite(fd, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header))
    throw failed("cannot write the segment's header");
  if (fcntl(fd, F_ADD_SEALS, kSeals) != 0) throw failed("cannot seal the segment");
}

SegmentHeader read_header(int fd) {
  struct stat status = {};
  if (fstat(fd, &status) != 0) {
    throw Error(Fault::usage, fmt::format("shm: descriptor {} is not open: start the ranks with "
                                          "--workers, which hands it to them",
                                          fd));
  }
  SegmentHeader header = {};
  const bool whole = pread(fd, &header, sizeof header, 0) == static_cast<ssize_t>(sizeof header);
  require(whole && header.magic == kSegmentMagic, Fault::wire,
          "shm: the descriptor is not that of a segment");
  if (header.version != kSegmentVersion) {
    throw Error(Fault::wire, fmt::format("shm: the segment has version {}, this program speaks {}",
                                         header.version, kSegmentVersion));
  }
  require(header.ranks >= 1 && header.ranks <= kMostShmRanks && is_ring_size(header.ring_bytes) &&
              header.ring_bytes <= std::size_t{1} << 32 &&
              header.total_bytes == total_bytes(header.ranks, header.ring_bytes) &&
              static_cast<std::uint64_t>(status.st_size) == header.total_bytes,
          Fault::wire, "shm: the segment has another size than its header says");
  const int seals = fcntl(fd, F_GET_SEALS);  // -1: of a file that cannot have any
  require(seals >= 0 && (seals & F_SEAL_SHRINK) != 0, Fault::wire,
          "shm: the segment is not sealed");
  return header;
}

}  // namespace

Descriptor make_segment(int ranks, std::size_t ring_bytes) {
  if (ranks < 1 || ranks > kMostShmRanks)
    throw Error(Fault::usage, fmt::format("shm takes 1 to {} ranks, not {}", kMostShmRanks, ranks));
  if (!is_ring_size(ring_bytes)) {
    throw Error(Fault::usage,
                fmt::format("shm: a ring has {} bytes or a larger power of two, not {}",
                            kSmallestRing, ring_bytes));
  }
  Descriptor segment(memfd_create("narrowcast", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!segment.is_open()) throw failed("cannot make a segment");
  const auto size = static_cast<std::size_t>(ranks);
  write_header(segment.get(), {.magic = kSegmentMagic,
                               .version = kSegmentVersion,
                               .ranks = static_cast<std::uint32_t>(ranks),
                               .ring_bytes = ring_bytes,
                               .total_bytes = total_bytes(size, ring_bytes)});
  return segment;
}

Mapping::Mapping(int fd) {
  const SegmentHeader header = read_header(fd);
  void* address =
      mmap(nullptr, header.total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (address == MAP_FAILED) throw failed("cannot map the segment");
  base_ = static_cast<std::byte*>(address);
  total_ = header.total_bytes;
  ranks_ = header.ranks;
  ring_bytes_ = header.ring_bytes;
}

Mapping::~Mapping() { munmap(base_, total_); }

RankPage& Mapping::page(int rank) const {
  return *reinterpret_cast<RankPage*>(base_ + kPage + static_cast<std::size_t>(rank) * kPage);
}

RingControl& Mapping::control(int from, int to) const {
  return *reinterpret_cast<RingControl*>(base_ + controls_at(ranks_) +
                                         number(from, to) * sizeof(RingControl));
}

MutableBytes Mapping::ring(int from, int to) const {
  return {base_ + rings_at(ranks_) + number(from, to) * ring_bytes_, ring_bytes_};
}

std::size_t Mapping::number(int from, int to) const {
  return static_cast<std::size_t>(from) * ranks_ + static_cast<std::size_t>(to);
}

}  // namespace narrowcast::shm
