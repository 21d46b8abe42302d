#include "tests/support/places.hpp"

namespace narrowcast::test {

std::filesystem::path source_folder() { return NARROWCAST_SOURCE; }
std::filesystem::path golden_folder() { return source_folder() / "tests/golden"; }
std::filesystem::path program_file() { return NARROWCAST_PROGRAM; }
std::filesystem::path shm_rank_file() { return NARROWCAST_SHM_RANK; }

}  // namespace narrowcast::test
