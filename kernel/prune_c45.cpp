// Pessimistic pruning with the cases at hand: a node becomes a leaf or its largest branch where that is no worse, by
// the errors to be reckoned with, than what stands there.
#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "grow_c45.h"
#include "interrupt.h"

namespace thetatree {
namespace {

constexpr double kSlack = 0.1;  // errors by which a replacement may be worse

class Pruner {
 public:
  Pruner(const Columns& columns, const Target& target, int n_classes, const C45Pruning& pruning,
         std::vector<C45TreeNode>& nodes)
      : target_(target), n_classes_(n_classes), raising_(pruning.raising),
        limit_(pruning.rule, pruning.confidence), divider_(columns), nodes_(nodes) {}

  void prune() {
    stack_.push_back({0, all_cases(static_cast<int64_t>(nodes_[0].n_rows), target_.weight), {}});
    while (!stack_.empty()) step();
  }

 private:
  struct Frame {
    int64_t id;
    Cases cases;
    std::vector<Cases> parts;
    bool entered = false;
    size_t next = 0;
    size_t largest = 0;
    double as_leaf = 0, as_tree = 0;
    double of_largest = 0;  // what the largest branch has of as_tree
    bool parted = false;    // whether any case is missing in its subtree
  };

  void step() {
    poll();
    Frame& frame = stack_.back();
    C45TreeNode& node = nodes_[frame.id];
    if (!frame.entered) enter(frame);
    if (node.is_leaf()) return leave(frame.as_leaf);
    if (frame.next < frame.parts.size()) {
      const size_t b = frame.next++;
      if (frame.parts[b].size() > 0) stack_.push_back({node.branches[b], frame.parts[b], {}});
      else make_empty(nodes_[node.branches[b]]);
      return;
    }
    decide(frame);
  }

  // Counts the cases, and divides them among the branches.
  void enter(Frame& frame) {
    C45TreeNode& node = nodes_[frame.id];
    node.n_rows = frame.cases.size();
    node.weight = count_classes(frame.cases, target_.classes, n_classes_, node.by_class);
    frame.as_leaf = as_leaf(node.by_class, node.weight);
    frame.entered = true;
    if (node.is_leaf()) return;
    frame.parts = divider_.divide(node.split, frame.cases);
    frame.parted = divider_.parted();
    double most = -1;
    for (size_t b = 0; b < frame.parts.size(); ++b) {
      if (frame.parts[b].size() == 0) continue;
      const double weight = count_classes(frame.parts[b], target_.classes, n_classes_, by_class_);
      if (weight > most) {
        most = weight;
        frame.largest = b;
      }
    }
  }

  double as_leaf(const std::vector<double>& by_class, double weight) const {
    const double errors = weight - *std::max_element(by_class.begin(), by_class.end());
    return limit_.errors(std::max(0.0, errors), weight);
  }

  void make_empty(C45TreeNode& node) const {
    node.branches.clear();
    node.by_class.assign(n_classes_, 0.0);
    node.weight = 0;
    node.n_rows = 0;
  }

  void decide(Frame& frame) {
    C45TreeNode& node = nodes_[frame.id];
    const int64_t branch = node.branches[frame.largest];
    const double as_branch = raising_ ? errors_as_branch(frame, branch) : frame.as_leaf;
    frame.parts.clear();
    if (frame.as_leaf <= as_branch + kSlack && frame.as_leaf <= frame.as_tree + kSlack) {
      node.branches.clear();
      leave(frame.as_leaf);
    } else if (raising_ && as_branch <= frame.as_tree + kSlack) {
      raise(node, branch);
      frame.entered = frame.parted = false;  // its cases are divided, and it is pruned, anew
      frame.next = 0;
      frame.as_tree = 0;
    } else {
      leave(frame.as_tree);
    }
  }

  void raise(C45TreeNode& node, int64_t branch) {
    BranchSplit split = std::move(nodes_[branch].split);
    std::vector<int64_t> branches = std::move(nodes_[branch].branches);
    node.split = std::move(split);
    node.branches = std::move(branches);
  }

  void leave(double errors) {
    const bool parted = stack_.back().parted;
    stack_.pop_back();
    if (stack_.empty()) return;
    Frame& above = stack_.back();
    above.as_tree += errors;
    above.parted = above.parted || parted;
    if (above.next == above.largest + 1) above.of_largest = errors;
  }

  // Errors to reckon with if all cases of a node were given to its largest branch. That has most of them already:
  // only leaves that get one of the others change, which saves a power of the depth in a chain. Missing cases
  // change their parts with the others, so with them all leaves are counted again.
  double errors_as_branch(const Frame& frame, int64_t branch) {
    if (frame.parted) return errors_of(branch, frame.cases);
    double errors = frame.of_largest;
    bool parted = false;
    send_down(branch, others(frame), [&](const C45TreeNode& leaf, const Cases& more) {
      count_classes(more, target_.classes, n_classes_, by_class_);
      for (int k = 0; k < n_classes_; ++k) by_class_[k] += leaf.by_class[k];
      const double weight = std::accumulate(by_class_.begin(), by_class_.end(), 0.0);
      errors += as_leaf(by_class_, weight) - as_leaf(leaf.by_class, leaf.weight);
    }, parted);
    return parted ? errors_of(branch, frame.cases) : errors;
  }

  // The cases that are not in the largest branch.
  static Cases others(const Frame& frame) {
    auto store = std::make_shared<CaseStore>();
    for (size_t b = 0; b < frame.parts.size(); ++b) {
      const Cases& part = frame.parts[b];
      if (b == frame.largest || part.size() == 0) continue;
      store->row.insert(store->row.end(), part.rows(), part.rows() + part.size());
      if (part.weights()) store->weight.insert(store->weight.end(), part.weights(), part.weights() + part.size());
    }
    const int64_t n = static_cast<int64_t>(store->row.size());
    return {std::move(store), 0, n};
  }

  double errors_of(int64_t id, const Cases& cases) {
    double errors = 0;
    bool parted = false;
    send_down(id, cases, [&](const C45TreeNode&, const Cases& here) {
      const double weight = count_classes(here, target_.classes, n_classes_, by_class_);
      errors += as_leaf(by_class_, weight);
    }, parted);
    return errors;
  }

  // Calls body(leaf, cases) for every leaf below that any of the cases reach.
  template <class Body>
  void send_down(int64_t id, const Cases& cases, Body&& body, bool& parted) {
    std::vector<std::pair<int64_t, Cases>> open{{id, cases}};
    while (!open.empty()) {
      poll();
      const auto [at, here] = std::move(open.back());
      open.pop_back();
      const C45TreeNode& node = nodes_[at];
      if (node.is_leaf()) {
        body(node, here);
        continue;
      }
      std::vector<Cases> parts = divider_.divide(node.split, here);
      parted = parted || divider_.parted();
      for (size_t b = parts.size(); b-- > 0;)
        if (parts[b].size() > 0) open.push_back({node.branches[b], std::move(parts[b])});
    }
  }

  const Target& target_;
  int n_classes_;
  bool raising_;
  ErrorLimit limit_;
  Divider divider_;
  std::vector<C45TreeNode>& nodes_;
  std::vector<Frame> stack_;
  std::vector<double> by_class_;
};

}  // namespace

void prune_c45(const Columns& columns, const Target& target, int n_classes, const C45Pruning& pruning,
               std::vector<C45TreeNode>& nodes) {
  Pruner(columns, target, n_classes, pruning, nodes).prune();
}

}  // namespace thetatree
