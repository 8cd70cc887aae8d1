// What makes a split good. A criterion sees the node's totals and the two sides' tallies, never rows.
//
// A tally is a short array of doubles. Classification: the weight of each class. Regression: the
// weight and the weighted sum of y less the node's mean (or median).
//   score     what a split is chosen by, higher is better; theta needs two tie breakers
//   decrease  how much the node's impurity falls, per unit of weight in the node
#pragma once

#include <cmath>
#include <cstdint>

#include "special.h"

namespace thetatree {

enum class Criterion : uint8_t {
  gini, entropy, gain_ratio, chi_square, binomial, theta, delta, weighted_delta,
  squared_error, absolute_error, poisson
};

enum class Impurity : uint8_t { gini, entropy, mode, variance, deviation, poisson };

inline bool is_regression(Criterion criterion) { return criterion >= Criterion::squared_error; }

inline Impurity impurity_of(Criterion criterion) {
  switch (criterion) {
    case Criterion::entropy:
    case Criterion::gain_ratio: return Impurity::entropy;
    case Criterion::theta: return Impurity::mode;
    case Criterion::squared_error: return Impurity::variance;
    case Criterion::absolute_error: return Impurity::deviation;
    case Criterion::poisson: return Impurity::poisson;
    default: return Impurity::gini;
  }
}

struct Score {
  double value = 0, second = 0, third = 0;
};

// std::fmax minds NaN and is therefore a call; nothing here is NaN.
inline double larger(double a, double b) { return a > b ? a : b; }

// A later score must beat the best by more than this share of its scale.
constexpr double kTie = 1e-12;

inline int compare_scores(double candidate, double best, double scale) {
  const double tolerance = kTie * larger(std::fabs(best), scale);
  return candidate > best + tolerance ? 1 : candidate < best - tolerance ? -1 : 0;
}

inline bool beats(const Score& candidate, const Score& best, double scale) {
  if (const int order = compare_scores(candidate.value, best.value, scale)) return order > 0;
  if (const int order = compare_scores(candidate.second, best.second, 1)) return order > 0;
  return compare_scores(candidate.third, best.third, 1) > 0;
}

// The node that is split: its tally and what follows from it.
struct NodeTotals {
  int width = 0;  // classes, or 2 for regression
  const double* total = nullptr;
  double weight = 0;
  double impurity = 0;
  double mean = 0;  // of y, for poisson
};

inline double x_log2_x(double x) { return x > 0 ? x * std::log2(x) : 0.0; }

// (1 + d) ln(1 + d) - d for d >= -1: the half Poisson deviance of a rate 1 + d from 1. Near zero the two
// terms cancel, so a series takes over.
inline double poisson_deviance(double d) {
  if (std::fabs(d) > 0.03) return d > -1 ? (1 + d) * std::log1p(d) - d : 1.0;
  double sum = 0, power = d * d;
  for (int k = 2; k <= 11; ++k) {
    sum += power / (k * (k - 1));
    power *= -d;
  }
  return sum;
}

inline double class_impurity(Impurity kind, const double* counts, int n_classes, double weight) {
  if (weight <= 0) return 0;
  double sum = 0;
  switch (kind) {
    case Impurity::gini:
      for (int k = 0; k < n_classes; ++k) sum += counts[k] * counts[k];
      return larger(0.0, 1.0 - sum / (weight * weight));
    case Impurity::entropy:
      for (int k = 0; k < n_classes; ++k)
        if (counts[k] > 0) sum -= counts[k] / weight * std::log2(counts[k] / weight);
      return larger(0.0, sum);
    default:
      for (int k = 0; k < n_classes; ++k) sum = larger(sum, counts[k]);
      return larger(0.0, 1.0 - sum / weight);
  }
}

// Each criterion: Score score(left, left weight, right, right weight), the scale of its ties, and
// decrease(...) where that is not the score; at(cut, missing left) says which cut is asked about next,
// for a criterion that looks its sides up instead of computing them from tallies. `width` is a compile-time 2 or, as 0, taken at run time.
template <int Width>
struct ClassCriterion {
  explicit ClassCriterion(const NodeTotals& node) : node(node) {}
  int width() const { return Width ? Width : node.width; }
  double scale() const { return 1; }
  double decrease_by(Impurity kind, const double* l, double wl, const double* r, double wr) const {
    return node.impurity - (wl * class_impurity(kind, l, width(), wl) +
                            wr * class_impurity(kind, r, width(), wr)) / node.weight;
  }
  void at(int64_t, bool) {}
  double weight(const double* tally) const {
    double sum = 0;
    for (int k = 0; k < width(); ++k) sum += tally[k];
    return sum;
  }
  // What monotonic constraints compare: the share of class 1.
  double left_value(const double* tally, double weight) const { return tally[1] / weight; }
  double right_value(const double* tally, double weight) const { return tally[1] / weight; }
  bool possible(const double*, const double*) const { return true; }
  const NodeTotals node;
};

template <int Width>
struct Gini : ClassCriterion<Width> {
  explicit Gini(const NodeTotals& node) : ClassCriterion<Width>(node) {
    double sum = 0;
    for (int k = 0; k < node.width; ++k) sum += node.total[k] * node.total[k];
    base_ = sum / node.weight / node.weight;
  }
  Score score(const double* l, double wl, const double* r, double wr) const {
    double left = 0, right = 0;
    for (int k = 0; k < this->width(); ++k) {
      left += l[k] * l[k];
      right += r[k] * r[k];
    }
    return {(left / wl + right / wr) / this->node.weight - base_};
  }
  double decrease(const Score& s, const double*, double, const double*, double) const { return s.value; }
  double scale() const { return this->node.impurity; }

 private:
  double base_;
};

template <int Width>
struct Entropy : ClassCriterion<Width> {
  using ClassCriterion<Width>::ClassCriterion;
  double gain(const double* l, double wl, const double* r, double wr) const {
    double inside = x_log2_x(wl) + x_log2_x(wr);
    for (int k = 0; k < this->width(); ++k) inside -= x_log2_x(l[k]) + x_log2_x(r[k]);
    return this->node.impurity - inside / this->node.weight;
  }
  Score score(const double* l, double wl, const double* r, double wr) const {
    return {gain(l, wl, r, wr)};
  }
  double decrease(const Score& s, const double*, double, const double*, double) const { return s.value; }
  double scale() const { return this->node.impurity; }
};

template <int Width>
struct GainRatio : Entropy<Width> {
  using Entropy<Width>::Entropy;
  Score score(const double* l, double wl, const double* r, double wr) const {
    const double pl = wl / this->node.weight, pr = wr / this->node.weight;
    const double information = -(pl * std::log2(pl) + pr * std::log2(pr));
    return {information > 0 ? this->gain(l, wl, r, wr) / information : 0.0};
  }
  double decrease(const Score&, const double* l, double wl, const double* r, double wr) const {
    return this->gain(l, wl, r, wr);
  }
  double scale() const { return 1; }
};

// Criteria whose score is not an impurity decrease.
template <int Width, class Self, Impurity kImpurity = Impurity::gini>
struct OtherCriterion : ClassCriterion<Width> {
  using ClassCriterion<Width>::ClassCriterion;
  double decrease(const Score&, const double* l, double wl, const double* r, double wr) const {
    return this->decrease_by(kImpurity, l, wl, r, wr);
  }
};

template <int Width>
struct ChiSquare : OtherCriterion<Width, ChiSquare<Width>> {
  using OtherCriterion<Width, ChiSquare<Width>>::OtherCriterion;
  Score score(const double* l, double wl, const double* r, double wr) const {
    const double pl = wl / this->node.weight, pr = wr / this->node.weight;
    double sum = 0;
    for (int k = 0; k < this->width(); ++k) {
      const double total = this->node.total[k];
      if (total <= 0) continue;
      const double el = total * pl, er = total * pr;
      sum += (l[k] - el) * (l[k] - el) / el + (r[k] - er) * (r[k] - er) / er;
    }
    return {sum};
  }
  double scale() const { return this->node.weight; }
};

template <int Width>
struct Binomial : OtherCriterion<Width, Binomial<Width>> {
  using OtherCriterion<Width, Binomial<Width>>::OtherCriterion;
  Score score(const double* l, double wl, const double* r, double wr) const {
    const double rate = this->node.total[1] / this->node.weight;
    return {larger(-log_two_sided(l[1], wl, rate), -log_two_sided(r[1], wr, rate))};
  }
};

template <int Width>
double weighted_delta(const NodeTotals& node, int width, const double* l, double wl, const double* r,
                      double wr) {
  double left = 0, right = 0;
  for (int k = 0; k < width; ++k) {
    const double share = node.total[k] / node.weight;
    left += std::fabs(l[k] / wl - share);
    right += std::fabs(r[k] / wr - share);
  }
  return (wl * left + wr * right) / node.weight;
}

template <int Width>
struct Theta : OtherCriterion<Width, Theta<Width>, Impurity::mode> {
  using OtherCriterion<Width, Theta<Width>, Impurity::mode>::OtherCriterion;
  Score score(const double* l, double wl, const double* r, double wr) const {
    double left = 0, right = 0;
    for (int k = 0; k < this->width(); ++k) {
      left = larger(left, l[k]);
      right = larger(right, r[k]);
    }
    return {(left + right) / this->node.weight,
            weighted_delta<Width>(this->node, this->width(), l, wl, r, wr),
            (wl < wr ? wl : wr) / this->node.weight};
  }
};

template <int Width>
struct Delta : OtherCriterion<Width, Delta<Width>> {
  using OtherCriterion<Width, Delta<Width>>::OtherCriterion;
  Score score(const double* l, double wl, const double* r, double wr) const {
    double sum = 0;
    for (int k = 0; k < this->width(); ++k) sum += std::fabs(l[k] / wl - r[k] / wr);
    return {sum};
  }
};

template <int Width>
struct WeightedDelta : OtherCriterion<Width, WeightedDelta<Width>> {
  using OtherCriterion<Width, WeightedDelta<Width>>::OtherCriterion;
  Score score(const double* l, double wl, const double* r, double wr) const {
    return {weighted_delta<Width>(this->node, this->width(), l, wl, r, wr)};
  }
};

struct RegressionCriterion {
  explicit RegressionCriterion(const NodeTotals& node) : node(node) {}
  double scale() const { return node.weight * node.impurity; }
  int width() const { return 2; }
  void at(int64_t, bool) {}
  double weight(const double* tally) const { return tally[0]; }
  double left_value(const double* tally, double weight) const { return tally[1] / weight; }
  double right_value(const double* tally, double weight) const { return tally[1] / weight; }
  bool possible(const double*, const double*) const { return true; }
  double decrease(const Score& s, const double*, double, const double*, double) const {
    return s.value / node.weight;
  }
  const NodeTotals node;
};

struct SquaredError : RegressionCriterion {
  using RegressionCriterion::RegressionCriterion;
  Score score(const double* l, double wl, const double* r, double wr) const {
    const double between = l[1] * l[1] / wl + r[1] * r[1] / wr;
    return {between - node.total[1] * node.total[1] / node.weight};
  }
};

struct Poisson : RegressionCriterion {
  using RegressionCriterion::RegressionCriterion;
  // A side without events would predict a rate of zero, which no count can follow. What subtraction
  // leaves of nothing is nothing.
  bool possible(const double* l, const double* r) const {
    const double least = kTie * node.mean * node.weight;
    return l[1] + l[0] * node.mean > least && r[1] + r[0] * node.mean > least;
  }
  Score score(const double* l, double wl, const double* r, double wr) const {
    const double left = wl * poisson_deviance(l[1] / (wl * node.mean));
    const double right = wr * poisson_deviance(r[1] / (wr * node.mean));
    return {node.mean * (left + right)};
  }
};

// Calls body with the criterion of that name over any number of classes.
template <class Body>
void with_class_criterion(Criterion criterion, const NodeTotals& node, Body&& body) {
  switch (criterion) {
    case Criterion::gini: return body(Gini<0>(node));
    case Criterion::entropy: return body(Entropy<0>(node));
    case Criterion::gain_ratio: return body(GainRatio<0>(node));
    case Criterion::chi_square: return body(ChiSquare<0>(node));
    case Criterion::binomial: return body(Binomial<0>(node));
    case Criterion::theta: return body(Theta<0>(node));
    case Criterion::delta: return body(Delta<0>(node));
    case Criterion::weighted_delta: return body(WeightedDelta<0>(node));
    default: return;
  }
}

}  // namespace thetatree
