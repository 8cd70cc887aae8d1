#include "route.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "columns.h"
#include "feature_search.h"
#include "parallel.h"
#include "route_branch.h"

namespace thetatree {
namespace {

constexpr int64_t kChunk = 1 << 11;

// A node as walking sees it: where the value is at most the threshold it goes to `next[0]`, else to `next[1]`; a leaf
// goes to itself. The highest bit of `feature` sends a missing value to `next[0]`.
template <class Real>
struct Step {
  Real threshold;
  uint32_t feature;
  int32_t next[2];
};
constexpr uint32_t kMissingLow = 1u << 31;

// The greatest number of the type that is not above the value, so that comparisons with it end the same.
float rounded_down(double value, float) {
  const float near = static_cast<float>(value);
  return static_cast<double>(near) > value ? std::nextafter(near, -std::numeric_limits<float>::infinity()) : near;
}
double rounded_down(double value, double) { return value; }

template <class Real>
std::vector<Step<Real>> steps_of(const TreeView& tree) {
  std::vector<Step<Real>> steps(tree.n_nodes);
  for (int64_t node = 0; node < tree.n_nodes; ++node) {
    const int32_t self = static_cast<int32_t>(node);
    const auto kind = static_cast<SplitKind>(tree.kind[node]);
    if (kind == SplitKind::leaf) {
      steps[node] = {0, 0, {self, self}};
      continue;
    }
    const int32_t* child = tree.child + tree.child_start[node];
    const uint32_t feature = static_cast<uint32_t>(tree.feature[node]);
    // Present, the higher value, goes left.
    if (kind == SplitKind::presence) steps[node] = {0, feature, {child[1], child[0]}};
    else steps[node] = {rounded_down(tree.threshold[node], Real()),
                        feature | (tree.missing_branch[node] == 0 ? kMissingLow : 0), {child[0], child[1]}};
  }
  return steps;
}

// Rows walk abreast, a step each by turns, so that none waits for another's memory.
template <class T, class Real>
void route_matrix(const std::vector<Step<Real>>& steps, const RowsView& rows, int64_t begin, int64_t end,
                  int64_t* leaf) {
  constexpr int64_t kAbreast = 16;
  const char* base = rows.columns[0].data;
  const int64_t step = rows.columns.size() > 1 ? rows.columns[1].data - base : 0;
  const int64_t stride = rows.columns[0].stride;
  for (int64_t from = begin; from < end; from += kAbreast) {
    const int64_t n = std::min(kAbreast, end - from);
    const char* at = base + from * stride;
    int32_t node[kAbreast] = {};
    int32_t moved = 1;
    while (moved) {
      moved = 0;
      for (int64_t i = 0; i < n; ++i) {
        const Step<Real>& here = steps[node[i]];
        T held;
        std::memcpy(&held, at + i * stride + (here.feature & ~kMissingLow) * step, sizeof(T));
        const Real value = static_cast<Real>(held);
        // Both are worked out, since a branch on either could not be foretold.
        const uint32_t low = static_cast<uint32_t>(value <= here.threshold) |
                             (static_cast<uint32_t>(value != value) & here.feature >> 31);
        const int32_t next = here.next[1 - low];
        moved |= next ^ node[i];
        node[i] = next;
      }
    }
    for (int64_t i = 0; i < n; ++i) leaf[from + i] = node[i];
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

// Codes may be negative, which no comparison sees; bytes without a sign are flags, never missing.
bool any_coded(const TreeView& tree, const RowsView& rows) {
  return rows.columns[0].type != Type::u8 &&
         std::any_of(tree.coded, tree.coded + rows.columns.size(), [](uint8_t coded) { return coded != 0; });
}

bool compares_only(const TreeView& tree) {
  return std::all_of(tree.kind, tree.kind + tree.n_nodes,
                     [](uint8_t kind) { return kind <= static_cast<uint8_t>(SplitKind::presence); });
}

bool is_packed_tightly(const RowsView& rows) {
  const int64_t size = size_of(rows.columns[0].type);
  return rows.columns[0].stride == size * static_cast<int64_t>(rows.columns.size()) &&
         (rows.columns.size() < 2 || rows.columns[1].data - rows.columns[0].data == size) &&
         reinterpret_cast<uintptr_t>(rows.columns[0].data) % size == 0;
}

}  // namespace

bool route(const TreeView& tree, const RowsView& rows, int n_threads, int64_t* leaf) {
  const int threads = rows.n_rows > kChunk ? n_threads : 1;
  const bool worth_steps = tree.n_nodes <= 4096 + 64 * rows.n_rows;
  if (worth_steps && is_matrix(rows) && compares_only(tree) && !any_coded(tree, rows)) {
    std::atomic<bool> infinite{false};
    const bool tight = is_packed_tightly(rows);
    with_type(rows.columns[0].type, [&]<class T>() {
      using Real = std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, uint8_t>, float, double>;
      const auto steps = steps_of<Real>(tree);
      parallel_chunks(threads, rows.n_rows, kChunk, [&](int64_t begin, int64_t end, int) {
        if constexpr (std::is_floating_point_v<T>) {
          // The chunk is then in the cache for walking.
          const T* values = reinterpret_cast<const T*>(rows.columns[0].data + begin * rows.columns[0].stride);
          const int64_t n = (end - begin) * static_cast<int64_t>(rows.columns.size());
          if (tight && any_infinite(values, n, 1)) infinite = true;
        }
        route_matrix<T, Real>(steps, rows, begin, end, leaf);
      });
    });
    return tight && !infinite;
  }
  parallel_chunks(threads, rows.n_rows, kChunk, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t node = 0;
      while (tree.kind[node] != 0)
        node = tree.child[tree.child_start[node] + branch_of_row(tree, node, rows, row)];
      leaf[row] = node;
    }
  });
  return false;
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
