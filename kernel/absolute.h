// Absolute error about medians: both sides of every cut in O(n log n).
//
// Rows enter a Fenwick tree over the ranks of y, level by level; the tree gives the weighted median and
// the sums on either side of it by descent. One walk forwards gives the left sides, one backwards the
// right sides; where values are missing, two more start with the missing rows already in.
#pragma once

#include <cstdint>
#include <vector>

#include "criteria.h"
#include "tally.h"

namespace thetatree {

// The weighted median: where the weight below reaches exactly half, the mean of the two middle values.
double weighted_median(const std::vector<double>& y, const std::vector<double>& weight);

// Ranks of the node's y, shared by all features.
class MedianRanks {
 public:
  explicit MedianRanks(const NodeRows& node);
  const NodeRows& node() const { return node_; }
  int64_t size() const { return static_cast<int64_t>(value_.size()); }
  int32_t rank(int64_t position) const { return rank_[position]; }
  double value(int64_t rank) const { return value_[rank]; }

 private:
  const NodeRows& node_;
  std::vector<int32_t> rank_;
  std::vector<double> value_;
};

struct Deviation {
  double error = 0, median = 0;
};

// `group_end[i]` closes level i among `positions`; missing rows stand behind the last level.
struct AbsoluteError : RegressionCriterion {
  AbsoluteError(const NodeTotals& node, const MedianRanks& ranks, const std::vector<int64_t>& positions,
                const std::vector<int64_t>& group_end);
  void at(int64_t cut, bool missing_left) {
    const bool has_missing = !forward_missing_.empty();
    left_ = missing_left ? forward_missing_[cut] : forward_[cut];
    if (cut + 1 == static_cast<int64_t>(forward_.size())) right_ = missing_only_;
    else right_ = has_missing && !missing_left ? backward_missing_[cut] : backward_[cut];
  }
  Score score(const double*, double, const double*, double) const {
    return {node.weight * node.impurity - left_.error - right_.error};
  }
  double left_value(const double*, double) const { return left_.median; }
  double right_value(const double*, double) const { return right_.median; }

 private:
  std::vector<Deviation> forward_, backward_, forward_missing_, backward_missing_;
  Deviation missing_only_, left_, right_;
};

}  // namespace thetatree
