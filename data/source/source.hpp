#pragma once

#include <filesystem>

#include "data/data.hpp"

// The layouts that data comes in. What is damaged is Fault::wire and names the file.
namespace narrowcast::source {

// MNIST's: four IDX files, plain or gzip.
bool is_idx(const std::filesystem::path& folder);
DataSet open_idx(const std::filesystem::path& folder);

// CIFAR-10's binary one: data_batch_1.bin to data_batch_5.bin and test_batch.bin.
bool is_cifar10(const std::filesystem::path& folder);
DataSet open_cifar10(const std::filesystem::path& folder);

// What `narrowcast data pack` writes.
DataSet open_pack(const std::filesystem::path& file);

// Made, not read: each class has a pattern, each image noise on it.
DataSet make_synthetic(const DataWish& wish);

}  // namespace narrowcast::source
