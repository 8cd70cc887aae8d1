#include "grow_c45.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "parallel.h"

namespace thetatree {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
constexpr double kNoWorse = 1e-3;  // by which a leaf may do worse than the subtree that collapses into it
constexpr int32_t kSpread = -2;    // missing values go to every branch

double weight_of(const Columns& columns, const Target& target) {
  if (!target.weight) return static_cast<double>(columns.n_rows());
  return std::accumulate(target.weight, target.weight + columns.n_rows(), 0.0);
}

double errors_as_leaf(const C45TreeNode& node) {
  return node.weight - *std::max_element(node.by_class.begin(), node.by_class.end());
}

class Grower {
 public:
  Grower(const Columns& columns, const Target& target, const C45Rules& rules)
      : columns_(columns), target_(target), rules_(rules),
        search_(columns, rules_, weight_of(columns, target), columns.n_rows()), divider_(columns),
        scratch_(std::max(1, rules.n_threads)), values_(columns.n_features()) {}

  std::vector<C45TreeNode> grow() {
    nodes_.emplace_back();
    nodes_[0].key = mix(rules_.seed);
    open_.push_back({0, all_cases(columns_.n_rows(), target_.weight)});
    while (!open_.empty()) {
      auto [id, cases] = std::move(open_.back());
      open_.pop_back();
      examine(id, std::move(cases));
    }
    if (rules_.collapse) collapse();
    return std::move(nodes_);
  }

  // Every feature's test of all cases, and what they would have to gain on average.
  std::vector<C45Found> candidates() {
    C45TreeNode root;
    const Cases cases = all_cases(columns_.n_rows(), target_.weight);
    root.weight = count_classes(cases, target_.classes, rules_.n_classes, root.by_class);
    look_at(root, cases);
    std::vector<int64_t> all(columns_.n_features());
    std::iota(all.begin(), all.end(), 0);
    found_.assign(all.size(), {});
    search(all);
    for (C45Found& one : found_)
      if (one.split.kind == SplitKind::threshold) place_threshold(one.split, one.above);
    return std::move(found_);
  }

 private:
  void look_at(const C45TreeNode& node, Cases cases) {
    view_.cases = std::move(cases);
    view_.classes.resize(view_.cases.size());
    for (int64_t i = 0; i < view_.cases.size(); ++i) view_.classes[i] = target_.classes[view_.cases.rows()[i]];
    view_.weight = node.weight;
    view_.impurity = class_impurity(Impurity::entropy, node.by_class.data(), rules_.n_classes, node.weight);
  }

  void examine(int64_t id, Cases cases) {
    poll();
    C45TreeNode& node = nodes_[id];
    node.n_rows = cases.size();
    node.weight = count_classes(cases, target_.classes, rules_.n_classes, node.by_class);
    if (!may_divide(node)) return;
    look_at(node, std::move(cases));
    if (rules_.min_impurity > 0 && view_.impurity <= rules_.min_impurity) return;
    const int64_t best = best_feature(id);
    if (best < 0) return;
    node.split = std::move(found_[best].split);
    if (node.split.kind == SplitKind::threshold) place_threshold(node.split, found_[best].above);
    divide(id);
  }

  bool may_divide(const C45TreeNode& node) const {
    const auto present = std::count_if(node.by_class.begin(), node.by_class.end(), [](double w) { return w > 0; });
    if (present <= 1) return false;
    if (rules_.max_depth >= 0 && node.depth >= rules_.max_depth) return false;
    return node.weight >= std::max(rules_.min_split, 2 * rules_.min_cases) - kForgiven;
  }

  int64_t best_feature(int64_t id) {
    std::vector<int64_t> free = free_features(id);
    found_.assign(columns_.n_features(), {});
    const int64_t n = static_cast<int64_t>(free.size());
    const int64_t most = rules_.max_features > 0 ? std::min(n, rules_.max_features) : n;
    if (most < n) {
      Random random(nodes_[id].key);
      for (int64_t i = n - 1; i > 0; --i) std::swap(free[i], free[random.below(static_cast<uint64_t>(i) + 1)]);
    }
    for (int64_t begin = 0; begin < n; begin += begin ? 1 : most) {
      std::vector<int64_t> drawn(free.begin() + begin, free.begin() + (begin ? begin + 1 : most));
      std::sort(drawn.begin(), drawn.end());
      search(drawn);
      const int64_t best = search_.choose(view_, drawn, found_);
      if (best >= 0) return best;
    }
    return -1;
  }

  // All features, or those that no test on the way to the node has asked for.
  std::vector<int64_t> free_features(int64_t id) const {
    std::vector<char> used(columns_.n_features());
    if (rules_.once_per_path)
      for (int64_t at = nodes_[id].parent; at >= 0; at = nodes_[at].parent) used[nodes_[at].split.feature] = 1;
    std::vector<int64_t> out;
    for (int64_t f = 0; f < columns_.n_features(); ++f)
      if (!used[f]) out.push_back(f);
    return out;
  }

  void search(const std::vector<int64_t>& features) {
    const int64_t work = view_.cases.size() * static_cast<int64_t>(features.size());
    parallel_for(work > 50000 ? rules_.n_threads : 1, static_cast<int64_t>(features.size()),
                 [&](int64_t i, int thread) {
                   found_[features[i]] = search_.feature(view_, features[i], scratch_[thread]);
                 });
  }

  // The greatest value of the whole column that is not above the middle of the two beside the cut.
  void place_threshold(BranchSplit& split, uint32_t above) {
    const std::vector<double>& values = values_of(split.feature);
    const double middle = values[split.code] / 2 + values[above] / 2;
    const auto end = std::upper_bound(values.begin() + split.code, values.begin() + above, middle);
    split.code = static_cast<uint32_t>(std::max<int64_t>(end - values.begin() - 1, split.code));
    split.threshold = values[split.code];
  }

  const std::vector<double>& values_of(int64_t feature) {
    std::vector<double>& values = values_[feature];
    if (!values.empty()) return values;
    const Column& column = columns_.column(feature);
    values.resize(column.levels);
    if (column.store == Store::sparse) {
      for (uint32_t code = 0; code < column.levels; ++code) values[code] = columns_.value(feature, code, -1);
      return values;
    }
    with_codes(columns_, feature, [&](auto code_of) {
      for (int64_t row = 0; row < columns_.n_rows(); ++row) {
        const uint32_t code = code_of(static_cast<uint32_t>(row));
        if (code < column.levels) values[code] = columns_.value(feature, code, row);
      }
    });
    return values;
  }

  void divide(int64_t id) {
    std::vector<Cases> parts = divider_.divide(nodes_[id].split, view_.cases);
    view_.cases = {};
    const int64_t first = static_cast<int64_t>(nodes_.size());
    for (size_t b = 0; b < parts.size(); ++b) {
      C45TreeNode child;
      child.depth = nodes_[id].depth + 1;
      child.parent = id;
      child.key = child_key(nodes_[id].key, b);
      child.by_class.assign(rules_.n_classes, 0.0);
      nodes_[id].branches.push_back(static_cast<int64_t>(nodes_.size()));
      nodes_.push_back(std::move(child));
    }
    for (size_t b = parts.size(); b-- > 0;)
      if (parts[b].size() > 0) open_.push_back({first + static_cast<int64_t>(b), std::move(parts[b])});
  }

  // A subtree that makes no fewer errors than its node would as a leaf becomes one. Children have higher numbers.
  void collapse() {
    std::vector<double> errors(nodes_.size());
    for (int64_t id = static_cast<int64_t>(nodes_.size()) - 1; id >= 0; --id) {
      C45TreeNode& node = nodes_[id];
      const double as_leaf = errors_as_leaf(node);
      if (node.is_leaf()) {
        errors[id] = as_leaf;
        continue;
      }
      for (const int64_t branch : node.branches) errors[id] += errors[branch];
      if (errors[id] < as_leaf - kNoWorse) continue;
      node.branches.clear();
      errors[id] = as_leaf;
    }
  }

  const Columns& columns_;
  const Target& target_;
  const C45Rules rules_;
  C45Search search_;
  Divider divider_;
  std::vector<C45Scratch> scratch_;
  std::vector<std::vector<double>> values_;  // distinct values of a column, ascending, once they are asked for
  std::vector<C45TreeNode> nodes_;
  std::vector<std::pair<int64_t, Cases>> open_;

  // Of the node that is being examined.
  C45Node view_;
  std::vector<C45Found> found_;
};

// The nodes that can still be reached, as a tree in preorder.
class Printer {
 public:
  Printer(const std::vector<C45TreeNode>& nodes, int n_classes) : nodes_(nodes), n_classes_(n_classes) {}

  GrownTree in_preorder() {
    std::vector<int64_t> open{0}, slots{-1}, lenders{0};
    while (!open.empty()) {
      const int64_t id = open.back(), slot = slots.back();
      // A branch without cases has the shares of the node above.
      const int64_t lender = nodes_[id].weight > 0 ? id : lenders.back();
      open.pop_back();
      slots.pop_back();
      lenders.pop_back();
      if (slot >= 0) tree_.child[slot] = static_cast<int32_t>(tree_.kind.size());
      append(nodes_[id], nodes_[lender]);
      const auto& branches = nodes_[id].branches;
      const int64_t first = static_cast<int64_t>(tree_.child.size() - branches.size());
      for (size_t b = branches.size(); b-- > 0;) {
        open.push_back(branches[b]);
        slots.push_back(first + static_cast<int64_t>(b));
        lenders.push_back(lender);
      }
    }
    return std::move(tree_);
  }

 private:
  double entropy(const C45TreeNode& node) const {
    return class_impurity(Impurity::entropy, node.by_class.data(), n_classes_, node.weight);
  }

  void append(const C45TreeNode& node, const C45TreeNode& lender) {
    const bool leaf = node.is_leaf();
    const BranchSplit& split = node.split;
    tree_.kind.push_back(static_cast<uint8_t>(leaf ? SplitKind::leaf : split.kind));
    tree_.feature.push_back(leaf ? -2 : static_cast<int32_t>(split.feature));
    tree_.threshold.push_back(leaf ? -2.0 : threshold(split));
    tree_.child.resize(tree_.child.size() + node.branches.size(), -1);
    tree_.child_start.push_back(static_cast<int64_t>(tree_.child.size()));
    if (!leaf) list_categories(split);
    tree_.category_start.push_back(static_cast<int64_t>(tree_.category.size()));
    tree_.missing_branch.push_back(leaf ? -1 : kSpread);
    tree_.impurity.push_back(entropy(lender));
    tree_.score.push_back(leaf ? kUndefined : split.score);
    double decrease = entropy(node) * node.weight;
    for (const int64_t branch : node.branches) decrease -= entropy(nodes_[branch]) * nodes_[branch].weight;
    tree_.impurity_decrease.push_back(leaf ? 0 : larger(0.0, decrease / nodes_[0].weight));
    tree_.weight.push_back(node.weight);
    tree_.n_samples.push_back(node.n_rows);
    for (const double w : lender.by_class) tree_.value.push_back(w / lender.weight);
  }

  static double threshold(const BranchSplit& split) {
    if (split.kind == SplitKind::threshold) return split.threshold;
    return split.kind == SplitKind::presence ? 0.5 : kUndefined;
  }

  void list_categories(const BranchSplit& split) {
    const bool all = split.kind == SplitKind::multiway;
    for (size_t code = 0; code < split.branch_of.size(); ++code) {
      if (split.branch_of[code] < 0 || (!all && split.branch_of[code] != 0)) continue;
      tree_.category.push_back(static_cast<int32_t>(code));
      tree_.category_branch.push_back(split.branch_of[code]);
    }
  }

  const std::vector<C45TreeNode>& nodes_;
  int n_classes_;
  GrownTree tree_;
};

}  // namespace

C45Trees grow_c45(const Columns& columns, const Target& target, const C45Rules& rules, const C45Pruning& pruning) {
  std::vector<C45TreeNode> nodes = Grower(columns, target, rules).grow();
  C45Trees out;
  out.grown = Printer(nodes, rules.n_classes).in_preorder();
  if (!pruning.on) return out;
  prune_c45(columns, target, rules.n_classes, pruning, nodes);
  out.pruned = Printer(nodes, rules.n_classes).in_preorder();
  return out;
}

std::vector<C45Found> candidates_c45(const Columns& columns, const Target& target, const C45Rules& rules) {
  return Grower(columns, target, rules).candidates();
}

}  // namespace thetatree
