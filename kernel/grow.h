// Growing: nodes of rows are split until a rule stops them, depth first or best first.
#pragma once

#include <cstdint>
#include <vector>

#include "columns.h"
#include "feature_search.h"
#include "worth.h"

namespace thetatree {

struct GrowRules {
  SearchRules search;
  Worth worth;
  int n_classes = 0;  // 0: regression
  int64_t max_depth = -1;
  int64_t min_samples_split = 2;
  double min_impurity_split = 0;
  int64_t max_leaf_nodes = -1;
  int64_t max_features = 0;  // 0: all
  uint64_t seed = 0;
  std::vector<int8_t> monotonic;  // by feature, or empty
  std::vector<int32_t> tier;      // by feature, or empty: a lower tier is tried first
  int64_t force = -1;             // the only feature that the root may be divided by
  bool largest_first = false;     // best first by the node's loss instead of the split's decrease
  bool each_best = false;         // every feature's own best split is wanted, not just the best of all
  double significance = 0;        // 0: none; else the level that a node's best split must pass, or it stays a leaf
  bool trace = false;             // keep each feature's best score at every node that was searched
  int64_t binned_from = 1024;     // rows of a node whose numbers are searched by bins
  int64_t listed_to = 4096;       // rows of a node whose numbers are sorted once for all nodes below it
  int n_threads = 1;
};

struct Target {
  const int32_t* classes = nullptr;
  const double* y = nullptr;
  const double* weight = nullptr;  // none: every row counts 1
};

// The tree as arrays, nodes in preorder. Ragged ones come as offsets and items.
struct GrownTree {
  std::vector<uint8_t> kind;
  std::vector<int32_t> feature;
  std::vector<double> threshold;
  std::vector<int64_t> child_start{0};
  std::vector<int32_t> child;
  std::vector<int64_t> category_start{0};
  std::vector<int32_t> category, category_branch;
  std::vector<int32_t> missing_branch;
  std::vector<double> impurity, score, impurity_decrease, weight;
  std::vector<double> p_value;  // of the split, adjusted for all that were tried
  std::vector<int64_t> n_samples;
  std::vector<double> value;  // node x (classes or 1)
  std::vector<double> trace;  // node x feature, NaN where nothing was found; empty unless it is kept
};

GrownTree grow(const Columns& columns, const Target& target, const GrowRules& rules);

// The best split of every feature at the root.
struct RootCandidates {
  std::vector<FeatureSplit> splits;
  std::vector<double> threshold;
};
RootCandidates root_candidates(const Columns& columns, const Target& target, const GrowRules& rules);

}  // namespace thetatree
