#include "tests/support/places.hpp"

namespace narrowcast::test {

std::filesystem::path golden_folder() { return NARROWCAST_GOLDEN; }
std::filesystem::path program_file() { return NARROWCAST_PROGRAM; }
std::filesystem::path shm_rank_file() { return NARROWCAST_SHM_RANK; }

}  // namespace narrowcast::test
