// Routing rows whose missing values go to every branch, in parts.
#pragma once

#include <cstdint>
#include <vector>

#include "route.h"

namespace thetatree {

// The leaves that each row reaches, or all nodes that it passes, ascending, and the part of it that comes there.
struct RowParts {
  std::vector<int64_t> start{0};  // per row, into node and part
  std::vector<int64_t> node;
  std::vector<double> part;
};

// `weight` is the nodes' weight in training: a missing value is parted by it. Branches without weight get nothing.
RowParts spread(const TreeView& tree, const double* weight, const RowsView& rows, bool all_nodes, int n_threads);
RowParts spread(const TreeView& tree, const double* weight, const SparseRowsView& rows, bool all_nodes, int n_threads);

}  // namespace thetatree
