#include "route.h"

#include <algorithm>
#include <cmath>

#include "parallel.h"
#include "route_branch.h"

namespace thetatree {
namespace {

constexpr int64_t kChunk = 1 << 13;

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
      while (tree.kind[node] != 0)
        node = tree.child[tree.child_start[node] + branch_of_row(tree, node, rows, row)];
      leaf[row] = node;
    }
  });
}

void route(const TreeView& tree, const SparseRowsView& rows, int n_threads, int64_t* leaf) {
  const int threads = rows.n_rows > kChunk ? n_threads : 1;
  parallel_chunks(threads, rows.n_rows, kChunk, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t node = 0;
      while (tree.kind[node] != 0)
        node = tree.child[tree.child_start[node] + branch_of_row(tree, node, rows, row)];
      leaf[row] = node;
    }
  });
}

}  // namespace thetatree
