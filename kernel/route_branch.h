// The branch that a value takes in a node.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "feature_search.h"
#include "route.h"

namespace thetatree {

// As a missing branch: every branch, each with its part of the row.
constexpr int32_t kEveryBranch = -2;

// Listed categories have a branch of their own; in a subset the others go right, in a multiway split they are
// missing.
inline int32_t category_branch(const TreeView& tree, int64_t node, int32_t code) {
  const int32_t* begin = tree.category + tree.category_start[node];
  const int32_t* end = tree.category + tree.category_start[node + 1];
  const int32_t* found = std::lower_bound(begin, end, code);
  if (found != end && *found == code) return tree.category_branch[found - tree.category];
  return static_cast<SplitKind>(tree.kind[node]) == SplitKind::subset ? 1 : -1;
}

inline int32_t branch_of(const TreeView& tree, int64_t node, double value, bool missing) {
  if (missing) return tree.missing_branch[node];
  switch (static_cast<SplitKind>(tree.kind[node])) {
    case SplitKind::threshold: return value <= tree.threshold[node] ? 0 : 1;
    case SplitKind::presence: return value != 0 ? 0 : 1;
    default: {
      const int32_t branch = category_branch(tree, node, static_cast<int32_t>(value));
      return branch < 0 ? tree.missing_branch[node] : branch;
    }
  }
}

// NaN is missing everywhere, a negative value where the column holds codes.
template <class T>
bool is_missing(T value, bool coded) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value) || (coded && value < 0);
  else if constexpr (std::is_signed_v<T>) return coded && value < 0;
  else return false;
}

inline int32_t branch_of_row(const TreeView& tree, int64_t node, const RowsView& rows, int64_t row) {
  const int32_t feature = tree.feature[node];
  const View& view = rows.columns[feature];
  return with_type(view.type, [&]<class T>() {
    const T value = view.at<T>(row);
    return branch_of(tree, node, static_cast<double>(value), is_missing(value, tree.coded[feature] != 0));
  });
}

inline int32_t branch_of_row(const TreeView& tree, int64_t node, const SparseRowsView& rows, int64_t row) {
  const int32_t* first = rows.column + rows.start[row];
  const int32_t* last = rows.column + rows.start[row + 1];
  const int32_t* found = std::lower_bound(first, last, tree.feature[node]);
  const bool held = found != last && *found == tree.feature[node];
  const double value = held ? rows.values.number(found - rows.column) : 0.0;
  return branch_of(tree, node, value, std::isnan(value));
}

}  // namespace thetatree
