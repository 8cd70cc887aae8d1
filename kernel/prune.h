// Minimal cost-complexity pruning: the weakest link goes first.
#pragma once

#include <cstdint>
#include <vector>

namespace thetatree {

// One step of the path: the node that became a leaf, at which alpha, and the leaves' risk after it.
struct PruneStep {
  int64_t node;
  double alpha;
  double risk;
};

// Nodes are in preorder; `risk` is each node's impurity times its share of the weight. Steps whose alpha
// is above `most` are not taken; ties fall on the lower node.
std::vector<PruneStep> weakest_links(int64_t n_nodes, const int64_t* child_start, const int32_t* child,
                                     const double* risk, double most, double& start_risk);

}  // namespace thetatree
