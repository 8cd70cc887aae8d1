// Growing from sketches: a node's counts are estimates, and a split must beat what noise alone would gain.
#pragma once

#include <cstdint>
#include <vector>

#include "conserve.h"
#include "grow.h"
#include "sketch_node.h"
#include "worth.h"

namespace thetatree {

struct SketchRules {
  Criterion criterion = Criterion::gini;
  int64_t max_depth = -1;
  double min_samples_split = 2;
  double min_samples_leaf = 1;
  double min_weight_leaf = 0;
  double min_impurity_decrease = 0;
  double min_impurity_split = 0;
  int64_t max_leaf_nodes = -1;
  int64_t max_features = 0;
  int max_categories = 10;
  bool positive_gain = false;
  Worth worth;
  double significance = 0;  // 0: no gate
  double min_held = 0;      // keys held by each child, where counts are estimates
  uint64_t seed = 0;
  std::vector<double> class_weight;  // by class
  int n_threads = 1;
};

struct SketchTree {
  GrownTree tree;
  std::vector<double> count;     // node x class: keys
  std::vector<double> variance;  // node x class
  std::vector<double> theta;     // node x class: the share of its keys that the count rests on; 1 is exact
  std::vector<double> held;      // by node
};

// `exact_n` are the classes' exact sizes, or -1. A category feature's split lists units as categories.
SketchTree grow_from_sketches(const SketchBuffer& sketches, const std::vector<ClassSource>& classes,
                              const std::vector<double>& exact_n, const std::vector<SketchFeature>& features,
                              const SketchRules& rules);

}  // namespace thetatree
