#include "route_fractional.h"

#include <numeric>
#include <utility>

#include "parallel.h"
#include "route_branch.h"

namespace thetatree {
namespace {

constexpr int64_t kChunk = 1 << 12;

template <class Rows>
class Spreader {
 public:
  Spreader(const TreeView& tree, const double* weight, const Rows& rows, bool all_nodes)
      : tree_(tree), weight_(weight), rows_(rows), all_nodes_(all_nodes) {}

  void add(int64_t row, RowParts& out) {
    open_.assign(1, {0, 1.0});
    while (!open_.empty()) {
      auto [node, part] = open_.back();
      open_.pop_back();
      while (tree_.kind[node] != 0) {
        if (all_nodes_) note(node, part, out);
        const int32_t branch = branch_of_row(tree_, node, rows_, row);
        if (branch == kEveryBranch) break;
        node = tree_.child[tree_.child_start[node] + branch];
      }
      if (tree_.kind[node] != 0) part_among_branches(node, part);
      else note(node, part, out);
    }
    out.start.push_back(static_cast<int64_t>(out.node.size()));
  }

 private:
  static void note(int64_t node, double part, RowParts& out) {
    out.node.push_back(node);
    out.part.push_back(part);
  }

  void part_among_branches(int64_t node, double part) {
    const int32_t* first = tree_.child + tree_.child_start[node];
    const int32_t* last = tree_.child + tree_.child_start[node + 1];
    const double all =
        std::accumulate(first, last, 0.0, [&](double sum, int32_t child) { return sum + weight_[child]; });
    for (const int32_t* child = last; child-- != first;)
      if (weight_[*child] > 0) open_.push_back({*child, part * (weight_[*child] / all)});
  }

  const TreeView& tree_;
  const double* weight_;
  const Rows& rows_;
  bool all_nodes_;
  std::vector<std::pair<int64_t, double>> open_;
};

template <class Rows>
RowParts spread_rows(const TreeView& tree, const double* weight, const Rows& rows, bool all_nodes, int n_threads) {
  const int64_t n_chunks = (rows.n_rows + kChunk - 1) / kChunk;
  std::vector<RowParts> chunks(n_chunks);
  parallel_for(n_threads, n_chunks, [&](int64_t chunk, int) {
    Spreader<Rows> spreader(tree, weight, rows, all_nodes);
    const int64_t end = std::min(rows.n_rows, (chunk + 1) * kChunk);
    for (int64_t row = chunk * kChunk; row < end; ++row) spreader.add(row, chunks[chunk]);
  });
  if (n_chunks == 1) return std::move(chunks[0]);
  RowParts out;
  for (const RowParts& chunk : chunks) {
    const int64_t before = static_cast<int64_t>(out.node.size());
    for (size_t i = 1; i < chunk.start.size(); ++i) out.start.push_back(before + chunk.start[i]);
    out.node.insert(out.node.end(), chunk.node.begin(), chunk.node.end());
    out.part.insert(out.part.end(), chunk.part.begin(), chunk.part.end());
  }
  return out;
}

}  // namespace

RowParts spread(const TreeView& tree, const double* weight, const RowsView& rows, bool all_nodes, int n_threads) {
  return spread_rows(tree, weight, rows, all_nodes, n_threads);
}

RowParts spread(const TreeView& tree, const double* weight, const SparseRowsView& rows, bool all_nodes, int n_threads) {
  return spread_rows(tree, weight, rows, all_nodes, n_threads);
}

}  // namespace thetatree
