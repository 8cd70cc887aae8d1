// Absolute error about medians: both sides of every cut.
//
// A row that enters a set whose medians (the lower and the upper) are L and U adds its distance from [L, U] to the
// sum of absolute deviations, no more and no less. Rows of equal weight are linked in the order of y and taken out
// from the last that enters to the first, which moves the median by one link at most: so all sets that a walk
// over the levels goes through have their medians in O(n). Rows of other weights enter a Fenwick tree over
// the places of y, which gives the weighted median and the sums on either side of it by descent, in O(n log n).
// One walk forwards gives the left sides, one backwards the right sides; where values are missing, two more
// start with the missing rows already in.
#pragma once

#include <cstdint>
#include <vector>

#include "criteria.h"
#include "tally.h"

namespace thetatree {

// The weighted median: where the weight below reaches exactly half, the mean of the two middle values.
double weighted_median(const std::vector<double>& y, const std::vector<double>& weight);

// The place of each value in their order, all different.
std::vector<uint32_t> ranks_of(const double* y, int64_t n);

// The node's rows in the order of y, shared by all features.
class MedianPlaces {
 public:
  // `rank`: of the y of all rows.
  MedianPlaces(const NodeRows& node, const std::vector<uint32_t>& rank, std::vector<uint64_t>& swap);
  int64_t size() const { return static_cast<int64_t>(value_.size()); }
  bool weighted() const { return !weight_.empty(); }
  int32_t place(int64_t position) const { return place_[position]; }
  double value(int64_t place) const { return value_[place]; }
  double weight(int64_t place) const { return weight_[place]; }

 private:
  std::vector<int32_t> place_;
  std::vector<double> value_, weight_;  // by place
};

struct Deviation {
  double error = 0, median = 0;
};

// `group_end[i]` closes level i among `positions`; missing rows stand behind the last level.
struct AbsoluteError : RegressionCriterion {
  AbsoluteError(const NodeTotals& node, const MedianPlaces& places, const std::vector<int64_t>& positions,
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
