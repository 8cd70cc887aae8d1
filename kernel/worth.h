// When the best split of a node is worth making: what its score has to reach.
#pragma once

#include <algorithm>
#include <limits>

#include "criteria.h"

namespace thetatree {

struct Worth {
  double min_score = 0;        // a level of the score itself
  double min_gain = 0;         // above what the undivided node has: its modal share for theta, else nothing
  double min_improvement = 0;  // share of the node's own loss (sum of squares for squared error)
  double p2 = 0;               // share of the root's loss (Morgan and Sonquist 1963)
  double p1 = 0;               // the node itself must hold this share of the root's loss to be divided

  double least_score(Criterion criterion, double impurity, double loss, double root_loss) const {
    double least = -std::numeric_limits<double>::infinity();
    const auto demand = [&](double rule, double score) {
      if (rule > 0) least = std::max(least, score);
    };
    demand(min_score, min_score);
    demand(min_gain, min_gain + (criterion == Criterion::theta ? 1 - impurity : 0));
    demand(min_improvement, min_improvement * loss);
    demand(p2, p2 * root_loss);
    return least;
  }
};

}  // namespace thetatree
