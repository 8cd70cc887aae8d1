// Where a good split is looked for: every admissible candidate of one feature in one node.
//
//   level   a distinct value of the feature among the node's rows
//   cut     a place between two neighbouring levels, in the order in which levels are scanned
//   known   the rows whose value is not missing
//
// Limits bind here: a candidate that breaks one is never the best, so nothing is vetoed afterwards.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "criteria.h"
#include "interrupt.h"
#include "random.h"

namespace thetatree {

enum class Missing : uint8_t { learnt, majority };

struct Limits {
  double min_leaf = 1;         // rows on each side
  double min_weight = 0;       // weight on each side
  double min_decrease = 0;     // of impurity, weighted by the node's share of the root
  double root_weight = 1;
  bool positive_gain = false;  // a split without gain is refused
};

// direction +1: the right side's value must not be the lower one; -1: not the higher one. Only splits on
// a constrained feature are held to the bounds, as in scikit-learn; below any other, values are clipped.
struct Monotonic {
  int direction = 0;
  bool bounded = false;
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
};

struct Candidate {
  bool valid = false;
  bool missing_left = false;
  bool saw_missing = false;
  bool known_apart = false;  // all known rows left, the missing ones right
  bool flipped = false;      // the scanned prefix is the right side
  int64_t cut = -1;          // ordinal of the last level of the prefix
  uint32_t code = 0;         // its code
  Score score;
  double decrease = 0;
  double left_count = 0, right_count = 0, left_weight = 0, right_weight = 0;
  double left_value = 0, right_value = 0;
};

// Tries both homes of the missing rows (or the heavier side's) at each cut it is shown. A tally here is
// led by the number of rows: [n, ...].
template <class Crit>
class Scanner {
 public:
  Scanner(Crit& crit, const Limits& limits, const Monotonic& monotonic, Missing mode, const double* known,
          const double* missing, Candidate& best)
      : crit_(crit), limits_(limits), monotonic_(monotonic), mode_(mode), known_(known), missing_(missing),
        best_(best), stride_(crit.width() + 1), has_missing_(missing[0] > 0), scale_(crit.scale()),
        heap_(stride_ > kInline ? 3 * stride_ : 0) {
    left_ = heap_.empty() ? inline_ : heap_.data();
    right_ = left_ + stride_;
    joined_ = right_ + stride_;
  }
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;

  // `prefix` holds the levels up to this cut; with `flip` they are the right side.
  void cut(int64_t ordinal, uint32_t code, const double* prefix, bool flip = false) {
    double* a = flip ? right_ : left_;
    double* b = flip ? left_ : right_;
    for (int i = 0; i < stride_; ++i) {
      a[i] = prefix[i];
      // Rounding of weights must not leave a side with less than nothing of a class.
      b[i] = known_[i] - prefix[i];
      if (!is_sum_of_y(i) && b[i] < 0) b[i] = 0;
    }
    ordinal_ = ordinal;
    code_ = code;
    flip_ = flip;
    if (!has_missing_) {
      consider(left_, right_, false);
    } else if (mode_ == Missing::majority) {
      const bool left = crit_.weight(left_ + 1) >= crit_.weight(right_ + 1);
      with_missing(left);
    } else {
      with_missing(false);
      with_missing(true);
    }
  }

  // The last candidate of a feature: is its value known at all?
  void known_apart(int64_t ordinal, uint32_t code) {
    if (!has_missing_ || mode_ != Missing::learnt || known_[0] == 0) return;
    ordinal_ = ordinal;
    code_ = code;
    flip_ = false;
    apart_ = true;  // known and missing have no order, so no constraint either
    if (consider(known_, missing_, false)) best_.known_apart = true;
    apart_ = false;
  }

  // What a cut has to reach, or come near to, if it is to count.
  double needed(double floor) const { return best_.valid && best_.score.value > floor ? best_.score.value : floor; }

 private:
  bool is_sum_of_y(int i) const { return std::is_base_of_v<RegressionCriterion, Crit> && i == 2; }

  void with_missing(bool left) {
    const double* side = left ? left_ : right_;
    for (int i = 0; i < stride_; ++i) joined_[i] = side[i] + missing_[i];
    if (left) consider(joined_, right_, true);
    else consider(left_, joined_, false);
  }

  bool consider(const double* l, const double* r, bool missing_left) {
    if (l[0] < limits_.min_leaf || r[0] < limits_.min_leaf) return false;
    const double wl = crit_.weight(l + 1), wr = crit_.weight(r + 1);
    if (wl < limits_.min_weight || wr < limits_.min_weight) return false;
    if (!crit_.possible(l + 1, r + 1)) return false;
    crit_.at(ordinal_, missing_left);
    if (monotonic_.direction != 0 && !apart_ && !monotone(l, wl, r, wr)) return false;
    const Score score = crit_.score(l + 1, wl, r + 1, wr);
    if (best_.valid && !beats(score, best_.score, scale_)) return false;
    const double decrease = crit_.decrease(score, l + 1, wl, r + 1, wr);
    if (limits_.min_decrease > 0 && decrease * crit_.node.weight / limits_.root_weight +
            std::numeric_limits<double>::epsilon() < limits_.min_decrease)
      return false;
    if (limits_.positive_gain && !(decrease > kTie * crit_.node.impurity)) return false;
    best_ = {true, missing_left, has_missing_, false, flip_, ordinal_, code_, score, decrease, l[0], r[0], wl, wr, 0, 0};
    if (monotonic_.bounded) {
      best_.left_value = crit_.left_value(l + 1, wl);
      best_.right_value = crit_.right_value(r + 1, wr);
    }
    return true;
  }

  bool monotone(const double* l, double wl, const double* r, double wr) const {
    const double left = crit_.left_value(l + 1, wl), right = crit_.right_value(r + 1, wr);
    return left >= monotonic_.lower && left <= monotonic_.upper && right >= monotonic_.lower &&
           right <= monotonic_.upper && (left - right) * monotonic_.direction <= 0;
  }

  Crit& crit_;
  const Limits& limits_;
  const Monotonic& monotonic_;
  const Missing mode_;
  const double* known_;
  const double* missing_;
  Candidate& best_;
  const int stride_;
  const bool has_missing_;
  const double scale_;
  static constexpr int kInline = 12;  // tallies up to this size need no allocation
  double inline_[3 * kInline];
  std::vector<double> heap_;
  double *left_, *right_, *joined_;
  int64_t ordinal_ = 0;
  uint32_t code_ = 0;
  bool flip_ = false, apart_ = false;
};

// A node's levels of one feature with their tallies, in ascending order of code.
struct Levels {
  int stride = 0;
  std::vector<uint32_t> code;
  std::vector<double> tally;  // code.size() x stride
  const double* at(int64_t i) const { return tally.data() + i * stride; }
  int64_t size() const { return static_cast<int64_t>(code.size()); }
  void clear(int new_stride) {
    stride = new_stride;
    code.clear();
    tally.clear();
  }
};

inline void add_to(const double* from, int stride, double* to) {
  for (int i = 0; i < stride; ++i) to[i] += from[i];
}

// Calls body(mask, tally of the left side) for each of the 2^(n-1) - 1 partitions of n levels, once: the
// lowest level is always left, and a counter's bits say which others are. Sums by bit are kept from the top
// bit down, so a step redoes two of them on average, and none comes from a subtraction.
template <class Body>
void for_each_partition(const Levels& levels, Body&& body) {
  const int bits = static_cast<int>(levels.size()) - 1, stride = levels.stride;
  std::vector<double> partial(static_cast<size_t>(bits + 1) * stride);
  std::copy_n(levels.at(0), stride, partial.data() + static_cast<size_t>(bits) * stride);
  const uint64_t end = (1ULL << bits) - 1;
  for (uint64_t mask = 0; mask < end; ++mask) {
    poll_at(static_cast<int64_t>(mask));
    const int top = mask == 0 ? bits - 1 : std::countr_zero(mask);
    for (int bit = top; bit >= 0; --bit) {
      double* sum = partial.data() + static_cast<size_t>(bit) * stride;
      std::copy_n(sum + stride, stride, sum);
      if (mask >> bit & 1) add_to(levels.at(bit + 1), stride, sum);
    }
    body(mask, static_cast<const double*>(partial.data()));
  }
}

// Scans the levels in the given order; the cuts looked at are [first, last).
template <class Crit>
void scan_order(Scanner<Crit>& scanner, const Levels& levels, const std::vector<int32_t>& order, int64_t first,
                int64_t last, bool lowest_left) {
  std::vector<double> prefix(levels.stride, 0.0);
  bool holds_lowest = false;
  for (int64_t i = 0; i < last; ++i) {
    const double* level = levels.at(order[i]);
    for (int j = 0; j < levels.stride; ++j) prefix[j] += level[j];
    holds_lowest = holds_lowest || order[i] == 0;
    if (i >= first) scanner.cut(i, levels.code[order[i]], prefix.data(), lowest_left && !holds_lowest);
  }
}

}  // namespace thetatree
