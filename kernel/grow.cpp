#include "grow.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "parallel.h"
#include "worker.h"

namespace thetatree {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kTaskRows = 1 << 17;     // times columns: what is worth a thread of its own
constexpr int64_t kTasksPerThread = 8;     // parts of the rows; the threads then end at about the same time

class Grower {
 public:
  Grower(const Columns& columns, const Target& target, const GrowRules& rules)
      : growth_(columns, target, rules), rules_(growth_.rules) {}

  GrownTree grow() {
    add_root();
    if (rules_.max_leaf_nodes > 0) grow_best_first();
    else grow_depth_first();
    return in_preorder();
  }

  RootCandidates candidates() {
    add_root();
    return Worker(growth_, rules_.n_threads, true).candidates(nodes_[0]);
  }

 private:
  void add_root() {
    Node root;
    root.last = growth_.columns.n_rows();
    root.key = mix(rules_.seed);
    root.bounds.bounded = !rules_.monotonic.empty();
    nodes_.push_back(std::move(root));
  }

  // All threads work on a large node together; then each takes whole subtrees.
  void grow_depth_first() {
    const int64_t n_rows = growth_.columns.n_rows(), work = n_rows * growth_.columns.n_features();
    const int64_t large = rules_.n_threads > 1 && work > 4 * kTaskRows ? n_rows / (kTasksPerThread * rules_.n_threads) : 0;
    std::vector<int64_t> tasks;
    Worker together(growth_, rules_.n_threads, true);
    grow_below(together, nodes_, 0, large, tasks);
    std::stable_sort(tasks.begin(), tasks.end(),
                     [&](int64_t a, int64_t b) { return nodes_[a].size() > nodes_[b].size(); });
    std::vector<std::vector<Node>> grown(tasks.size());
    std::vector<std::unique_ptr<Worker>> workers(std::max(1, rules_.n_threads));
    parallel_for(rules_.n_threads, static_cast<int64_t>(tasks.size()), [&](int64_t task, int thread) {
      if (!workers[thread]) workers[thread] = std::make_unique<Worker>(growth_, 1, true);
      grown[task].push_back(std::move(nodes_[tasks[task]]));
      std::vector<int64_t> none;
      grow_below(*workers[thread], grown[task], 0, 0, none);
    });
    for (size_t task = 0; task < tasks.size(); ++task) take_in(tasks[task], std::move(grown[task]));
  }

  // Nodes of fewer than `large` rows are left for later.
  static void grow_below(Worker& worker, std::vector<Node>& nodes, int64_t top, int64_t large,
                         std::vector<int64_t>& later) {
    std::vector<int64_t> open{top};
    while (!open.empty()) {
      const int64_t id = open.back();
      open.pop_back();
      if (nodes[id].size() < large) {
        later.push_back(id);
        continue;
      }
      if (!worker.examine(nodes, id)) continue;
      worker.divide(nodes, id);
      open.push_back(nodes[id].right);
      open.push_back(nodes[id].left);
    }
  }

  // A subtree takes the place of the node that it was grown from.
  void take_in(int64_t id, std::vector<Node>&& subtree) {
    const int64_t shift = static_cast<int64_t>(nodes_.size()) - 1;
    for (Node& node : subtree) {
      if (node.left < 0) continue;
      node.left += shift;
      node.right += shift;
    }
    nodes_[id] = std::move(subtree[0]);
    nodes_.insert(nodes_.end(), std::make_move_iterator(subtree.begin() + 1), std::make_move_iterator(subtree.end()));
  }

  void grow_best_first() {
    using Entry = std::pair<double, int64_t>;  // urgency, -id: the earlier node wins a tie
    Worker worker(growth_, rules_.n_threads, false);
    const auto urgency = [&](const Node& node) { return rules_.largest_first ? worker.loss(node) : node.decrease; };
    std::priority_queue<Entry> open;
    if (worker.examine(nodes_, 0)) open.push({urgency(nodes_[0]), 0});
    for (int64_t leaves = 1; leaves < rules_.max_leaf_nodes && !open.empty(); ++leaves) {
      const int64_t id = -open.top().second;
      open.pop();
      worker.divide(nodes_, id);
      for (const int64_t child : {nodes_[id].left, nodes_[id].right})
        if (worker.examine(nodes_, child)) open.push({urgency(nodes_[child]), -child});
    }
    // What is still open stays a leaf.
    for (; !open.empty(); open.pop()) nodes_[-open.top().second].feature = -1;
  }

  GrownTree in_preorder() const {
    GrownTree tree;
    std::vector<int64_t> open{0}, parent_slot{-1};
    while (!open.empty()) {
      const int64_t id = open.back(), slot = parent_slot.back();
      open.pop_back();
      parent_slot.pop_back();
      if (slot >= 0) tree.child[slot] = static_cast<int32_t>(tree.kind.size());
      const Node& node = nodes_[id];
      append(node, tree);
      if (node.feature < 0) continue;
      const int64_t first = static_cast<int64_t>(tree.child.size()) - 2;
      open.insert(open.end(), {node.right, node.left});
      parent_slot.insert(parent_slot.end(), {first + 1, first});
    }
    return tree;
  }

  void append(const Node& node, GrownTree& tree) const {
    const bool leaf = node.feature < 0;
    const FeatureSplit& split = node.split;
    tree.kind.push_back(static_cast<uint8_t>(leaf ? SplitKind::leaf : split.kind));
    tree.feature.push_back(leaf ? -2 : static_cast<int32_t>(node.feature));
    tree.threshold.push_back(leaf ? -2.0 : node.threshold);
    if (!leaf) tree.child.resize(tree.child.size() + 2, -1);
    tree.child_start.push_back(static_cast<int64_t>(tree.child.size()));
    if (!leaf && split.kind == SplitKind::subset)
      tree.category.insert(tree.category.end(), split.left_codes.begin(), split.left_codes.end());
    tree.category_branch.resize(tree.category.size(), 0);
    tree.category_start.push_back(static_cast<int64_t>(tree.category.size()));
    tree.missing_branch.push_back(leaf ? -1 : missing_branch(node));
    tree.impurity.push_back(node.impurity);
    tree.score.push_back(leaf ? kUndefined : split.best.score.value);
    tree.impurity_decrease.push_back(leaf ? 0 : node.decrease);
    tree.p_value.push_back(leaf ? kUndefined : p_value(node));
    tree.weight.push_back(node.weight);
    tree.n_samples.push_back(node.last - node.first);
    tree.value.insert(tree.value.end(), node.value.begin(), node.value.end());
    if (!rules_.trace) return;
    tree.trace.insert(tree.trace.end(), node.trace.begin(), node.trace.end());
    tree.trace.resize(tree.kind.size() * growth_.all.size(), kUndefined);
  }

  double p_value(const Node& node) const {
    const std::vector<Sample> sides{nodes_[node.left].sample, nodes_[node.right].sample};
    return std::min(1.0, split_chance(rules_.search.criterion, sides) * node.n_tried);
  }

  // Where no row was missing, a missing value follows the heavier branch.
  int32_t missing_branch(const Node& node) const {
    const Candidate& best = node.split.best;
    if (best.known_apart) return 1;
    if (best.saw_missing) return best.missing_left ? 0 : 1;
    return best.left_weight >= best.right_weight ? 0 : 1;
  }

  Growth growth_;
  const GrowRules& rules_;
  std::vector<Node> nodes_;
};

}  // namespace

GrownTree grow(const Columns& columns, const Target& target, const GrowRules& rules) {
  return Grower(columns, target, rules).grow();
}

RootCandidates root_candidates(const Columns& columns, const Target& target, const GrowRules& rules) {
  GrowRules each = rules;
  each.each_best = true;
  return Grower(columns, target, each).candidates();
}

}  // namespace thetatree
