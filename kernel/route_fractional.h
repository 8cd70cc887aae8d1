// Routing rows whose missing values go to every branch, in parts.
#pragma once

#include <cstdint>
#include <vector>

#include "route.h"

namespace thetatree {

// The leaves that each row reaches, ascending, and the part of it that ends there.
struct LeafParts {
  std::vector<int64_t> start{0};  // per row, into leaf and part
  std::vector<int64_t> leaf;
  std::vector<double> part;
};

// `weight` is the nodes' weight in training: a missing value is parted by it. Branches without weight get nothing.
LeafParts spread(const TreeView& tree, const double* weight, const RowsView& rows, int n_threads);
LeafParts spread(const TreeView& tree, const double* weight, const SparseRowsView& rows, int n_threads);

}  // namespace thetatree
