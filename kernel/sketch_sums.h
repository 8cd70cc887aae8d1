// Sums of a number that every key carries, over the keys that the resolution rule finds in a node.
#pragma once

#include <cstdint>
#include <vector>

#include "sketch_node.h"

namespace thetatree {

struct Sums {
  double held = 0, tau = 1, sum = 0, square = 0;
};

class SumIndex {
 public:
  // `y` has a number for each of the ascending `hashes`, among which every held key is.
  SumIndex(const SketchBuffer& sketches, const ClassSource& source, std::vector<SketchFeature> features,
           const uint64_t* hashes, const double* y, int64_t n);
  SumIndex(const SumIndex&) = delete;
  SumIndex& operator=(const SumIndex&) = delete;

  // The node's own keys, and after them, for each test, those that are also in its cells. A test replaces what the
  // node says about its feature, and allows no cell that the node does not.
  std::vector<Sums> among(const Constraints& node, const Constraints& tests, int n_threads) const;

 private:
  Sums sums(const ClassNode& node) const;

  std::vector<SketchFeature> features_;
  ClassIndex index_;
  std::vector<double> y_;  // by key of the index
};

}  // namespace thetatree
