// The gate: would noise alone gain as much as a split of estimated counts does?
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "conserve.h"
#include "criteria.h"
#include "sketch_index.h"
#include "special.h"

namespace thetatree {

// One side of a split, by class.
struct GateSide {
  const std::vector<Estimate>& estimates;  // not yet conserved
  const std::vector<Count>& counts;
  double n;
};

// Whether a χ² of so many degrees of freedom, 1 or more, is above x with a chance below the level. Most are told by
// bounds: Chernoff's, and a χ² is above its mean with a chance of 0.31 or more.
inline bool tail_is_below(double level, double x, double freedom) {
  const double ratio = x / freedom;
  if (ratio <= 1 && level < 0.3) return false;
  if (ratio > 1 && 0.5 * freedom * (std::log(ratio) + 1 - ratio) < std::log(level)) return true;
  return chi_square_tail(x, freedom) < level;
}

// What a split gains, unweighted, since noise is of keys: the gini decrease, or information in nats.
inline double plain_gain(bool gini, const std::vector<Count>& node, double n, const GateSide& left,
                         const GateSide& right) {
  const auto impurity = [&](const std::vector<Count>& counts, double sum) {
    if (sum <= 0) return 0.0;
    double out = 0;
    for (const Count& count : counts) {
      if (gini) out += count.n * count.n;
      else if (count.n > 0) out -= count.n / sum * std::log2(count.n / sum);
    }
    return sum * larger(0.0, gini ? 1.0 - out / (sum * sum) : out);
  };
  const double gain = impurity(node, n) - impurity(left.counts, left.n) - impurity(right.counts, right.n);
  return gain / n * (gini ? 1.0 : 0.6931471805599453);
}

// The chance that noise alone gains as much as a split: that a χ² of so many degrees of freedom is above x.
struct NoiseLaw {
  double x = 0, freedom = 0;  // no freedom: noise gains nothing at all
  bool below(double level) const { return freedom <= 0 || tail_is_below(level, x, freedom); }
  double chance() const { return freedom <= 0 ? 0.0 : chi_square_tail(x, freedom); }
};

// What noise alone would gain, set against what a split does. With x_c the error of the left share in class c, of variance U_c
// (times the pooled variance), the gain is a quadratic form, Σ w_c (x_c − Σ π_d x_d)²: w = π/2 for information
// in nats, π² for gini. It has the law of Σ λ_i χ²_1, taken for a χ² of the same first three cumulants; with
// two classes, or equal λ, that is exact.
inline NoiseLaw law_of_noise(bool gini, const std::vector<Count>& node, double n, const GateSide& left,
                             const GateSide& right) {
  const double p = left.n / n, q = 1 - p;
  // The form's matrix, seen from standard normal x, is diag(d) − a bᵀ − b aᵀ + s b bᵀ.
  double s = 0, d1 = 0, d2 = 0, d3 = 0;
  double aa[3] = {}, ab[3] = {}, bb[3] = {};  // aᵀ diag(d)^i b and so on
  for (size_t c = 0; c < node.size(); ++c) {
    if (node[c].n <= 0) continue;
    const double share = node[c].n / n;
    const double deviation = std::sqrt((q / left.estimates[c].tau + p / right.estimates[c].tau) / node[c].n);
    const double w = gini ? share * share : share / 2;
    const double d = w * deviation * deviation, a = w * deviation, b = share * deviation;
    s += w;
    d1 += d;
    d2 += d * d;
    d3 += d * d * d;
    for (int i = 0; i < 3; ++i) {
      const double power = i == 0 ? 1 : i == 1 ? d : d * d;
      aa[i] += a * power * a;
      ab[i] += a * power * b;
      bb[i] += b * power * b;
    }
  }
  // The 2 × 2 matrices [[0, −1], [−1, s]] times [[aa, ab], [ab, bb]].
  using Small = std::array<double, 4>;
  const auto small = [&](int i) {
    return Small{-ab[i], -bb[i], s * ab[i] - aa[i], s * bb[i] - ab[i]};
  };
  const auto times = [](const Small& x, const Small& y) {
    return Small{x[0] * y[0] + x[1] * y[2], x[0] * y[1] + x[1] * y[3], x[2] * y[0] + x[3] * y[2],
                 x[2] * y[1] + x[3] * y[3]};
  };
  const auto trace = [](const Small& x) { return x[0] + x[3]; };
  const Small m0 = small(0), m1 = small(1), m2 = small(2), m00 = times(m0, m0);
  const double k1 = d1 + trace(m0), k2 = d2 + 2 * trace(m1) + trace(m00);
  const double k3 = d3 + 3 * trace(m2) + 3 * trace(times(m1, m0)) + trace(times(m00, m0));
  if (!(k1 > 0 && k2 > 0 && k3 > 0)) return {};
  const double freedom = k2 * k2 * k2 / (k3 * k3);
  const double gain = plain_gain(gini, node, n, left, right);
  return {freedom + (gain - k1) / std::sqrt(k2) * std::sqrt(freedom), freedom};
}

}  // namespace thetatree
