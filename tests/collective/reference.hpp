#pragma once

#include "tests/collective/trial.hpp"

// What an all-reduce must give, worked out from whole tensors with plain codec calls: no shards, no
// chunks, no messages.
namespace narrowcast::test {

// By tensor. For sum=fp32 and one step without residuals.
Values reference(const AllReduceRow& row, const Trial& trial);

}  // namespace narrowcast::test
