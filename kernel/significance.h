// How likely a split that has nothing to do with the target would part a node's rows as sharply.
#pragma once

#include <cstdint>
#include <vector>

#include "criteria.h"

namespace thetatree {

// What a test needs to know of a node or of a side: rows, weight, and the weight by class or the moments of y.
struct Sample {
  double n = 0, weight = 0;
  std::vector<double> classes;
  double mean = 0, squares = 0;  // regression: weighted sum of squares about the mean
};

// In how many ways n categories can be parted in two. The best cut of an ordered row of them is the best of all.
double partitions_of(int64_t n);

// The chance of one split, not adjusted for how many were tried: of G for entropy and gain ratio, of chi-square for
// the other criteria of classes, of F for numbers. Weights are scaled to the number of rows.
double split_chance(Criterion criterion, const std::vector<Sample>& branches);

}  // namespace thetatree
