#pragma once

namespace narrowcast {

// How many standard deviations the largest of so many normal numbers lies above their mean, on average
// (Blom's approximation, within 5 % for two and 2 % for many).
double expected_maximum(int count);

}  // namespace narrowcast
