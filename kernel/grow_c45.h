// C4.5: growing by gain ratio with cases in parts, and pessimistic pruning with the cases at hand (Quinlan 1993).
#pragma once

#include <vector>

#include "error_limits.h"
#include "grow.h"
#include "search_c45.h"

namespace thetatree {

struct C45Pruning {
  bool on = true;
  bool raising = true;  // a node may be replaced by its largest branch
  LimitRule rule = LimitRule::release8;
  double confidence = 0.25;
};

// A node of a tree that is grown or pruned; a leaf has no branch.
struct C45TreeNode {
  std::vector<double> by_class;  // weight; of a branch without cases all 0
  double weight = 0;
  int64_t n_rows = 0;
  int64_t depth = 0, parent = -1;
  uint64_t key = 0;
  BranchSplit split;
  std::vector<int64_t> branches;

  bool is_leaf() const { return branches.empty(); }
};

struct C45Trees {
  GrownTree grown, pruned;
};

// `grown` is the tree before pruning; `pruned` is empty if pruning is off.
C45Trees grow_c45(const Columns& columns, const Target& target, const C45Rules& rules, const C45Pruning& pruning);

// What each feature's test of all cases would gain.
std::vector<C45Found> candidates_c45(const Columns& columns, const Target& target, const C45Rules& rules);

// Prunes from the root down to the leaves and up again. The nodes' weights become those of the cases that reach
// them in the pruned tree.
void prune_c45(const Columns& columns, const Target& target, int n_classes, const C45Pruning& pruning,
               std::vector<C45TreeNode>& nodes);

}  // namespace thetatree
