#include "count_sketch.h"

#include <memory>
#include <utility>

#include "conserve.h"
#include "parallel.h"

namespace thetatree {
namespace {

struct OpenNode {
  int64_t id = 0;
  Constraints constraints;
  std::vector<std::unique_ptr<ClassNode>> classes;
};

class TreeCounter {
 public:
  TreeCounter(const SketchBuffer& sketches, const std::vector<ClassSource>& classes,
              const std::vector<SketchFeature>& features, const TreeTests& tree, int n_threads)
      : features_(features), tree_(tree), n_threads_(n_threads), n_classes_(static_cast<int>(classes.size())) {
    indexes_.resize(classes.size());
    parallel_for(n_threads_, n_classes_, [&](int64_t c, int) {
      indexes_[c] = std::make_unique<ClassIndex>(sketches, classes[c], features_);
    });
    const size_t n = static_cast<size_t>(tree.n_nodes * n_classes_);
    out_.count.resize(n);
    out_.variance.resize(n);
    out_.theta.resize(n, 1.0);
    out_.held.resize(static_cast<size_t>(tree.n_nodes));
  }

  TreeCounts run(const std::vector<double>& exact_n) {
    std::vector<OpenNode> open(1);
    for (int c = 0; c < n_classes_; ++c) {
      open[0].classes.push_back(std::make_unique<ClassNode>(*indexes_[c], Constraints{}));
      const Estimate own = open[0].classes[c]->own();
      const bool exact = exact_n[c] >= 0;
      set(0, c, exact ? Count{exact_n[c], 0} : Count{own.count(), own.variance()});
      out_.theta[c] = exact ? 1.0 : own.tau;
      out_.held[0] += own.held;
    }
    while (!open.empty()) {
      poll();
      OpenNode node = std::move(open.back());
      open.pop_back();
      if (is_leaf(node.id)) continue;
      divide(std::move(node), open);
    }
    return std::move(out_);
  }

 private:
  bool is_leaf(int64_t node) const { return n_branches(node) == 0; }
  int n_branches(int64_t node) const {
    return static_cast<int>(tree_.child_start[node + 1] - tree_.child_start[node]);
  }
  int64_t child(int64_t node, int branch) const { return tree_.child[tree_.child_start[node] + branch]; }
  void set(int64_t node, int c, const Count& count) {
    out_.count[node * n_classes_ + c] = count.n;
    out_.variance[node * n_classes_ + c] = count.variance;
  }

  // The cells that go to a branch, so far as the node allows them; `or_later`: to it or to any after it.
  std::vector<char> cells(const OpenNode& node, int branch, bool or_later) const {
    const int32_t feature = tree_.feature[node.id];
    const int32_t* to = tree_.branch + tree_.branch_start[node.id];
    std::vector<char> out(features_[feature].n_cells(), 1);
    for (const Constraint& constraint : node.constraints)
      if (constraint.feature == feature) out = constraint.allowed;
    for (size_t cell = 0; cell < out.size(); ++cell)
      out[cell] = out[cell] && (or_later ? to[cell] >= branch : to[cell] == branch);
    return out;
  }

  // One branch against all later ones, until all are counted.
  void share_out(const OpenNode& node, int c) {
    const int n = n_branches(node.id);
    const int32_t feature = tree_.feature[node.id];
    const auto among = [&](int branch, bool or_later) -> Count {
      const Estimate found = node.classes[c]->among(feature, cells(node, branch, or_later));
      return {found.count(), found.variance()};
    };
    Count rest{out_.count[node.id * n_classes_ + c], out_.variance[node.id * n_classes_ + c]};
    for (int branch = 0; branch + 1 < n; ++branch) {
      Parts parts = conserve(rest, among(branch, false), among(branch + 1, true));
      if (!parts.possible) parts = guess(node.id, branch, rest);
      set(child(node.id, branch), c, parts.left);
      rest = parts.right;
    }
    set(child(node.id, n - 1), c, rest);
  }

  // Nothing is held on either side: the class parts as the tree's weights did, as one draw of the whole would.
  Parts guess(int64_t node, int branch, const Count& whole) const {
    double own = tree_.weight[child(node, branch)], all = 0;
    for (int later = branch; later < n_branches(node); ++later) all += tree_.weight[child(node, later)];
    const double share = all > 0 ? own / all : 0.5, doubt = whole.n * whole.n * share * (1 - share);
    Parts out;
    out.left = {whole.n * share, share * share * whole.variance + doubt};
    out.right = {whole.n - out.left.n, (1 - share) * (1 - share) * whole.variance + doubt};
    return out;
  }

  void divide(OpenNode&& node, std::vector<OpenNode>& open) {
    const int32_t feature = tree_.feature[node.id];
    const int n = n_branches(node.id);
    int64_t n_keys = 0;
    for (const auto& own : node.classes) n_keys += static_cast<int64_t>(own->keys().size());
    constexpr int64_t kWorthThreads = 20'000;  // keys, as when a tree grows
    const int threads = node.id == 0 || n_keys >= kWorthThreads ? n_threads_ : 1;
    parallel_for(threads, n_classes_, [&](int64_t c, int) {
      share_out(node, static_cast<int>(c));
      if (!indexes_[c]->flat()) return;
      indexes_[c]->list(indexes_[c]->feature_theta(feature));
      node.classes[c] = std::make_unique<ClassNode>(*indexes_[c], Constraints{});
    });
    std::vector<OpenNode> children(n);
    for (int branch = 0; branch < n; ++branch) {
      OpenNode& next = children[branch];
      next.id = child(node.id, branch);
      for (const Constraint& constraint : node.constraints)
        if (constraint.feature != feature) next.constraints.push_back(constraint);
      next.constraints.push_back({feature, cells(node, branch, false)});
      next.classes.resize(n_classes_);
    }
    parallel_for(threads, n * n_classes_, [&](int64_t task, int) {
      OpenNode& next = children[task % n];
      auto& own = next.classes[task / n];
      own = std::make_unique<ClassNode>(*node.classes[task / n], next.constraints);
      if (!is_leaf(next.id)) own->count();
    });
    for (OpenNode& next : children) {
      for (int c = 0; c < n_classes_; ++c) {
        const Estimate own = next.classes[c]->own();
        out_.theta[next.id * n_classes_ + c] = own.tau;
        out_.held[next.id] += own.held;
      }
      open.push_back(std::move(next));
    }
  }

  const std::vector<SketchFeature>& features_;
  const TreeTests tree_;
  const int n_threads_;
  const int n_classes_;
  std::vector<std::unique_ptr<ClassIndex>> indexes_;
  TreeCounts out_;
};

}  // namespace

TreeCounts count_tree(const SketchBuffer& sketches, const std::vector<ClassSource>& classes,
                      const std::vector<double>& exact_n, const std::vector<SketchFeature>& features,
                      const TreeTests& tree, int n_threads) {
  return TreeCounter(sketches, classes, features, tree, n_threads).run(exact_n);
}

}  // namespace thetatree
