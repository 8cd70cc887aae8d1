#include "route.h"

#include <algorithm>
#include <cmath>

#include "feature_search.h"
#include "parallel.h"

namespace thetatree {
namespace {

constexpr int64_t kChunk = 1 << 13;

// The branch of a category: listed ones have theirs; in a subset the others go right, in a multiway
// split they are missing.
int32_t category_branch(const TreeView& tree, int64_t node, int32_t code) {
  const int32_t* begin = tree.category + tree.category_start[node];
  const int32_t* end = tree.category + tree.category_start[node + 1];
  const int32_t* found = std::lower_bound(begin, end, code);
  if (found != end && *found == code) return tree.category_branch[found - tree.category];
  return static_cast<SplitKind>(tree.kind[node]) == SplitKind::subset ? 1 : -1;
}

int32_t branch_of(const TreeView& tree, int64_t node, double value, bool missing) {
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

// All columns of one type in one matrix and thresholds only: nothing is looked up but the value.
template <class T>
void route_matrix(const TreeView& tree, const RowsView& rows, int64_t begin, int64_t end, int64_t* leaf) {
  const char* base = rows.columns[0].data;
  const int64_t step = rows.columns.size() > 1 ? rows.columns[1].data - base : 0;
  const int64_t stride = rows.columns[0].stride;
  for (int64_t row = begin; row < end; ++row) {
    const char* at = base + row * stride;
    int64_t node = 0;
    while (tree.kind[node] != 0) {
      T value;
      std::memcpy(&value, at + tree.feature[node] * step, sizeof(T));
      const double number = static_cast<double>(value);
      int32_t branch = number <= tree.threshold[node] ? 0 : 1;
      if constexpr (std::is_floating_point_v<T>)
        if (std::isnan(value)) branch = tree.missing_branch[node];
      node = tree.child[tree.child_start[node] + branch];
    }
    leaf[row] = node;
  }
}

bool is_matrix(const RowsView& rows) {
  if (rows.columns.empty()) return false;
  const View& first = rows.columns[0];
  const int64_t step = rows.columns.size() > 1 ? rows.columns[1].data - first.data : 0;
  for (size_t j = 0; j < rows.columns.size(); ++j) {
    const View& view = rows.columns[j];
    if (view.type != first.type || view.stride != first.stride ||
        view.data != first.data + static_cast<int64_t>(j) * step)
      return false;
  }
  return true;
}

bool any_coded(const TreeView& tree, const RowsView& rows) {
  return std::any_of(tree.coded, tree.coded + rows.columns.size(), [](uint8_t coded) { return coded != 0; });
}

bool thresholds_only(const TreeView& tree) {
  return std::all_of(tree.kind, tree.kind + tree.n_nodes,
                     [](uint8_t kind) { return kind <= static_cast<uint8_t>(SplitKind::threshold); });
}

}  // namespace

void route(const TreeView& tree, const RowsView& rows, int n_threads, int64_t* leaf) {
  const int threads = rows.n_rows > kChunk ? n_threads : 1;
  if (thresholds_only(tree) && is_matrix(rows) && !any_coded(tree, rows)) {
    with_type(rows.columns[0].type, [&]<class T>() {
      parallel_chunks(threads, rows.n_rows, kChunk, [&](int64_t begin, int64_t end, int) {
        route_matrix<T>(tree, rows, begin, end, leaf);
      });
    });
    return;
  }
  parallel_chunks(threads, rows.n_rows, kChunk, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t node = 0;
      while (tree.kind[node] != 0) {
        const View& view = rows.columns[tree.feature[node]];
        const int32_t branch = with_type(view.type, [&]<class T>() {
          const T value = view.at<T>(row);
          return branch_of(tree, node, static_cast<double>(value), is_missing(value, tree.coded[tree.feature[node]] != 0));
        });
        node = tree.child[tree.child_start[node] + branch];
      }
      leaf[row] = node;
    }
  });
}

void route(const TreeView& tree, const SparseRowsView& rows, int n_threads, int64_t* leaf) {
  const int threads = rows.n_rows > kChunk ? n_threads : 1;
  parallel_chunks(threads, rows.n_rows, kChunk, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const int32_t* first = rows.column + rows.start[row];
      const int32_t* last = rows.column + rows.start[row + 1];
      int64_t node = 0;
      while (tree.kind[node] != 0) {
        const int32_t* found = std::lower_bound(first, last, tree.feature[node]);
        const bool held = found != last && *found == tree.feature[node];
        const double value = held ? rows.values.number(found - rows.column) : 0.0;
        node = tree.child[tree.child_start[node] + branch_of(tree, node, value, std::isnan(value))];
      }
      leaf[row] = node;
    }
  });
}

}  // namespace thetatree
