#pragma once

#include <filesystem>

// Where things are. Only one file is compiled with them, so that all others are the same in every checkout, and a
// compiler cache knows them.
namespace narrowcast::test {

std::filesystem::path source_folder();  // of the whole checkout
std::filesystem::path golden_folder();
std::filesystem::path program_file();   // narrowcast
std::filesystem::path shm_rank_file();  // a rank for the tests of shm

}  // namespace narrowcast::test
