// What lets most cuts go without a score: a quick look at whether a cut may reach what is needed.
//
// As rows pass from the right side to the left one by one, a criterion's sums change by a step each. Where those sums
// give the score without a division or a logarithm, a screen follows them; a cut that passes is scored as any other.
// The needed score is taken a little lower, so that no rounding lets a winner or a tie go.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "criteria.h"
#include "tally.h"

namespace thetatree {

constexpr double kScreenSlack = 1e-9;  // of the scale of scores; sums followed over a million rows are right to 1e-11

// Criteria without a screen: every cut passes.
template <class Crit>
class Screen {
 public:
  static constexpr bool kUseful = false;
  Screen(const NodeTotals&, const NodeRows&, TallyScratch&) {}
  void add(int, double, double) {}
  void need(double) {}
  bool passes() const { return true; }
};

template <int Width>
class Screen<Gini<Width>> {
 public:
  static constexpr bool kUseful = true;
  Screen(const NodeTotals& node, const NodeRows&, TallyScratch&)
      : node_(node), left_(node.width), right_(node.total, node.total + node.width), n_right_(node.weight) {
    for (const double n : right_) squares_right_ += n * n;
    base_ = squares_right_ / node.weight;
  }
  void add(int k, double w, double) {
    squares_left_ += w * (2 * left_[k] + w);
    squares_right_ -= w * (2 * right_[k] - w);
    left_[k] += w;
    right_[k] -= w;
    n_left_ += w;
    n_right_ -= w;
  }
  void need(double score) { needed_ = (score - kScreenSlack * node_.impurity) * node_.weight + base_; }
  bool passes() const {
    return squares_left_ * n_right_ + squares_right_ * n_left_ >= needed_ * (n_left_ * n_right_);
  }

 private:
  const NodeTotals& node_;
  std::vector<double> left_, right_;
  double squares_left_ = 0, squares_right_ = 0, n_left_ = 0, n_right_, base_ = 0, needed_ = 0;
};

template <>
class Screen<SquaredError> {
 public:
  static constexpr bool kUseful = true;
  Screen(const NodeTotals& node, const NodeRows&, TallyScratch&)
      : node_(node), n_right_(node.total[0]), right_(node.total[1]) {}
  void add(int, double w, double wy) {
    left_ += wy;
    right_ -= wy;
    n_left_ += w;
    n_right_ -= w;
  }
  void need(double score) {
    needed_ = score - kScreenSlack * node_.weight * node_.impurity + node_.total[1] * node_.total[1] / node_.weight;
  }
  bool passes() const {
    return left_ * left_ * n_right_ + right_ * right_ * n_left_ >= needed_ * (n_left_ * n_right_);
  }

 private:
  const NodeTotals& node_;
  double n_left_ = 0, n_right_, left_ = 0, right_, needed_ = 0;
};

// Whole counts only: x log x comes from a table.
template <int Width>
class Screen<Entropy<Width>> {
 public:
  static constexpr bool kUseful = true;
  Screen(const NodeTotals& node, const NodeRows& rows, TallyScratch& scratch)
      : node_(node), table_(scratch.x_log2_x), counted_(rows.measure == Measure::counts) {
    if (!counted_) return;
    for (double x = static_cast<double>(table_.size()); x <= node.weight; ++x) table_.push_back(x_log2_x(x));
    left_.resize(node.width);
    for (int k = 0; k < node.width; ++k) right_.push_back(static_cast<int64_t>(node.total[k]));
    n_right_ = static_cast<int64_t>(node.weight);
    inside_ = table_[n_right_];
    for (const int64_t n : right_) inside_ -= table_[n];
  }
  void add(int k, double, double) {
    if (!counted_) return;
    inside_ -= step(n_right_ - 1) - step(n_left_) - step(right_[k] - 1) + step(left_[k]);
    ++left_[k];
    --right_[k];
    ++n_left_;
    --n_right_;
  }
  void need(double score) { most_ = (node_.impurity * (1 + kScreenSlack) - score) * node_.weight; }
  bool passes() const { return !counted_ || inside_ <= most_; }

 private:
  double step(int64_t from) const { return table_[from + 1] - table_[from]; }
  const NodeTotals& node_;
  std::vector<double>& table_;
  const bool counted_;
  std::vector<int64_t> left_, right_;
  int64_t n_left_ = 0, n_right_ = 0;
  double inside_ = 0, most_ = 0;
};

}  // namespace thetatree
