// Routing rows to leaves.
#pragma once

#include <cstdint>
#include <vector>

#include "view.h"

namespace thetatree {

// The parts of a tree that routing reads; see GrownTree for their meaning.
struct TreeView {
  int64_t n_nodes = 0;
  const uint8_t* kind = nullptr;
  const int32_t* feature = nullptr;
  const double* threshold = nullptr;
  const int64_t* child_start = nullptr;
  const int32_t* child = nullptr;
  const int64_t* category_start = nullptr;
  const int32_t* category = nullptr;
  const int32_t* category_branch = nullptr;
  const int32_t* missing_branch = nullptr;
  const uint8_t* coded = nullptr;  // by feature: flags and categories, where a negative value is missing
};

// Rows as columns in place. Flags hold 0, 1 or -1; categories hold codes or -1; numbers hold NaN where
// missing.
struct RowsView {
  int64_t n_rows = 0;
  std::vector<View> columns;
};

struct SparseRowsView {
  int64_t n_rows = 0;
  const int64_t* start = nullptr;
  const int32_t* column = nullptr;  // ascending within a row
  View values;
};

// True where the values have been seen to be finite or NaN on the way.
bool route(const TreeView& tree, const RowsView& rows, int n_threads, int64_t* leaf);
void route(const TreeView& tree, const SparseRowsView& rows, int n_threads, int64_t* leaf);

}  // namespace thetatree
