// Counting the nodes of a tree that stands already, from sketches: by the same rule as they are counted when a
// tree grows, on keys that may be others than it was grown from.
#pragma once

#include <cstdint>
#include <vector>

#include "sketch_node.h"

namespace thetatree {

// A tree's tests in the sketches' terms. An inner node's feature has a cell for each place in
// [branch_start[i], branch_start[i + 1]), and `branch` is the branch that the cell takes.
struct TreeTests {
  int64_t n_nodes = 0;
  const int32_t* feature = nullptr;
  const int64_t* child_start = nullptr;
  const int32_t* child = nullptr;
  const int64_t* branch_start = nullptr;
  const int32_t* branch = nullptr;
  const double* weight = nullptr;  // where no key is held that tells how a class parts: by these, whatever the class
};

// Node by class, as in SketchTree.
struct TreeCounts {
  std::vector<double> count, variance, theta;
  std::vector<double> held;  // by node
};

TreeCounts count_tree(const SketchBuffer& sketches, const std::vector<ClassSource>& classes,
                      const std::vector<double>& exact_n, const std::vector<SketchFeature>& features,
                      const TreeTests& tree, int n_threads);

}  // namespace thetatree
