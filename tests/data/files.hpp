#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/data.hpp"

namespace narrowcast::test {

// Files as others write them, small.
std::string idx_labels(const std::vector<int>& labels);
std::string idx_images(int count, int height, int width);  // the values count up
std::string gzipped(const std::string& bytes);

// MNIST's four files: 12 and 5 images of 3x4.
void write_mnist(const std::filesystem::path& folder);
// CIFAR-10's six, with so many images each.
void write_cifar(const std::filesystem::path& folder, int images);

// A JPEG of one colour, or of grey.
std::string jpeg_of(int height, int width, const std::array<int, 3>& colour);
std::string grey_jpeg_of(int height, int width, int grey);

// As fault_text has it, of opening this.
std::string refusal_of(const DataWish& wish);

// Where MNIST and CIFAR-10 are, for tests that want the real thing; nothing where they are not.
std::optional<std::filesystem::path> real_data(const std::string& name);

}  // namespace narrowcast::test
