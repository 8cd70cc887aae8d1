// Exact cuts of a number at the cost of counting bytes.
//
//   bin       a run of neighbouring values, numbered by a byte (columns.h)
//   boundary  the cut between two bins
//   bound     what no cut inside a bin can beat
//   floor     a score that some feature reaches for certain: what stays below it need not be looked at
//
// Gini, entropy, chi-square and squared error are convex in the left tally, so what they reach inside a bin is bounded
// by the corners of a region that the left tallies cannot leave. Only bins whose bound is not beaten are opened: their
// rows are sorted and scanned. Of 300,000 rows that is 0.4% at the root where there is signal.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "byte_tally.h"
#include "feature_search.h"
#include "screen.h"
#include "value_order.h"

namespace thetatree {

template <class Crit>
constexpr bool kConvex = false;
template <int Width>
constexpr bool kConvex<Gini<Width>> = true;
template <int Width>
constexpr bool kConvex<Entropy<Width>> = true;
template <int Width>
constexpr bool kConvex<ChiSquare<Width>> = true;
template <>
inline constexpr bool kConvex<SquaredError> = true;

// A cut that was found; with the values on either side of it where it lies inside a bin.
struct BinnedCut {
  Candidate best;
  bool inside = false;
  double low = 0, high = 0;
};

template <class Crit>
class BinnedSearch {
 public:
  BinnedSearch(const NodeView& node, const SearchRules& rules, int64_t feature, const Monotonic& bounds,
               TallyScratch& scratch)
      : node_(node), rows_(*node.rows), rules_(rules), column_(node.columns->column(feature)), bounds_(bounds),
        place_(node.table->place(feature)), scratch_(scratch), stride_(rows_.stride()),
        n_bins_(static_cast<int>(column_.levels)), crit_(node.totals) {
    load();
  }

  // The best boundary.
  Candidate boundaries() {
    Candidate best;
    auto scanner = scanner_into(best);
    const bool screened = (kIsGini || std::is_same_v<Crit, SquaredError>) && missing_[0] == 0 && bounds_.direction == 0;
    Screen<Crit> screen(node_.totals, rows_, scratch_);
    screen.need(kClosed);
    std::vector<double>& prefix = scratch_.prefix;
    prefix.assign(stride_, 0.0);
    for (int bin = 0; bin < n_bins_; ++bin) {
      const double* own = of_bin(bin);
      if (own[0] == 0) continue;
      add_to(own, stride_, prefix.data());
      if (prefix[0] == known_[0]) {
        scanner.known_apart(bin, static_cast<uint32_t>(bin));
        break;
      }
      if (screened) {
        if constexpr (std::is_same_v<Crit, SquaredError>) screen.add(0, own[1], own[2]);
        else if constexpr (kIsGini)
          for (int k = 0; k < rows_.n_classes; ++k) screen.add(k, own[1 + k], 0);
        if (!screen.passes()) continue;
      }
      scanner.cut(bin, static_cast<uint32_t>(bin), prefix.data());
      if (screened) screen.need(scanner.needed(kClosed));
    }
    return best;
  }

  // The best cut of all, unless every cut is below the floor; `outer` is the best boundary. False where sorting all
  // rows is the shorter way.
  bool best(const Candidate& outer, double floor, BinnedCut& out) {
    if (outer.valid) floor = std::max(floor, outer.score.value);
    find_bounds(floor);
    std::vector<int> wanted = not_below(floor);
    if (wanted.empty()) {
      out.best = outer;
      return true;
    }
    std::vector<BinnedCut> inner(n_bins_);
    // The most promising first: what they reach closes most of the others.
    constexpr size_t kFirst = 4;
    if (wanted.size() > kFirst) {
      std::vector<int> first = wanted;
      std::nth_element(first.begin(), first.begin() + kFirst, first.end(),
                       [&](int a, int b) { return bound_[a] != bound_[b] ? bound_[a] > bound_[b] : a < b; });
      first.resize(kFirst);
      std::sort(first.begin(), first.end());
      open(first, inner);
      for (const int bin : first)
        if (inner[bin].best.valid) floor = std::max(floor, inner[bin].best.score.value);
      wanted = not_below(floor);
    }
    double n_wanted = 0;
    for (const int bin : wanted) n_wanted += of_bin(bin)[0];
    if (n_wanted > kTooMany * static_cast<double>(rows_.n)) return false;
    open(wanted, inner);
    merge(inner, out);
    return true;
  }

 private:
  static constexpr double kTooMany = 0.6;  // of the rows
  static constexpr double kClosed = -std::numeric_limits<double>::infinity();  // nothing to find inside
  static constexpr double kOpen = std::numeric_limits<double>::infinity();
  static constexpr int kMostCorners = 3;  // classes whose 2^n corners are looked at; more have a gradient's bound

  const double* of_bin(int bin) const { return scratch_.bins.data() + static_cast<size_t>(bin) * stride_; }

  void load() {
    scratch_.bins.resize(static_cast<size_t>(n_bins_ + 1) * stride_);
    for (int bin = 0; bin <= n_bins_; ++bin)
      node_.bytes->load(place_, bin, stride_, scratch_.bins.data() + static_cast<size_t>(bin) * stride_);
    missing_.assign(of_bin(n_bins_), of_bin(n_bins_) + stride_);
    known_ = rows_.total;
    for (int i = 0; i < stride_; ++i) known_[i] -= missing_[i];
  }

  Scanner<Crit> scanner_into(Candidate& best) {
    return Scanner<Crit>(crit_, rules_.limits, bounds_, rules_.missing, known_.data(), missing_.data(), best);
  }

  // Boundaries and what opened bins hold, in order, so that ties end as in a scan of every cut.
  void merge(const std::vector<BinnedCut>& inner, BinnedCut& out) {
    auto scanner = scanner_into(out.best);
    std::vector<double> prefix(stride_);
    for (int bin = 0; bin < n_bins_; ++bin) {
      const double* own = of_bin(bin);
      if (own[0] == 0) continue;
      const Candidate& within = inner[bin].best;
      if (within.valid && (!out.best.valid || beats(within.score, out.best.score, crit_.scale()))) out = inner[bin];
      add_to(own, stride_, prefix.data());
      // A boundary that beats what is best so far takes this code.
      const uint32_t code = kBoundary + static_cast<uint32_t>(bin);
      const bool last = prefix[0] == known_[0];
      if (last) scanner.known_apart(bin, code);
      else scanner.cut(bin, code, prefix.data());
      if (out.best.code == code) out.inside = false;
      if (last) break;
    }
    if (out.best.valid && !out.inside) out.best.code -= kBoundary;
  }
  static constexpr uint32_t kBoundary = UINT32_MAX - 255;  // no code of a value is as high

  void find_bounds(double floor) {
    if constexpr (kIsGini) {
      const double slack = kScreenSlack * node_.totals.impurity, weight = node_.totals.weight;
      double squares = 0;
      for (int k = 0; k < rows_.n_classes; ++k) squares += rows_.total[1 + k] * rows_.total[1 + k];
      needed_ = (floor - slack) * weight + squares / weight;
    }
    bound_.assign(n_bins_, kClosed);
    before_.assign(static_cast<size_t>(n_bins_ + 1) * stride_, 0.0);
    for (int bin = 0; bin < n_bins_; ++bin) {
      double* const before = before_.data() + static_cast<size_t>(bin) * stride_;
      const double* own = of_bin(bin);
      if (own[0] > 1 && !column_.single[bin]) bound_[bin] = bound(bin, before, own);
      std::copy_n(before, stride_, before + stride_);
      add_to(own, stride_, before + stride_);
    }
  }

  std::vector<int> not_below(double floor) const {
    std::vector<int> out;
    for (int bin = 0; bin < n_bins_; ++bin)
      if (bound_[bin] != kClosed && compare_scores(bound_[bin], floor, crit_.scale()) >= 0) out.push_back(bin);
    return out;
  }

  // Missing rows may be on either side.
  double bound(int bin, const double* before, const double* own) {
    left_.assign(before, before + stride_);
    double most = bound_from(bin, own);
    if (missing_[0] > 0) {
      add_to(missing_.data(), stride_, left_.data());
      most = std::max(most, bound_from(bin, own));
    }
    return most;
  }

  // With left_ as the tally on the left of the bin.
  double bound_from(int bin, const double* own) {
    if constexpr (std::is_same_v<Crit, SquaredError>) return bound_of_sums(node_.bytes->squares(place_, bin), own);
    else if (rows_.n_classes <= kMostCorners) return bound_of_corners(own);
    else return bound_of_slope(own);
  }

  static constexpr bool kIsGini = std::is_same_v<Crit, Gini<2>> || std::is_same_v<Crit, Gini<0>>;

  // Whether any corner comes near to the floor; told without a division, since most do not.
  bool may_reach(const double* own) const {
    const int n_classes = crit_.width();
    bool reaches = false;
    for (uint32_t mask = 0; mask < 1u << n_classes; ++mask) {
      double wl = 0, wr = 0, squares_left = 0, squares_right = 0;
      for (int k = 0; k < n_classes; ++k) {
        const double l = left_[1 + k] + (mask >> k & 1 ? own[1 + k] : 0.0), r = rows_.total[1 + k] - l;
        wl += l;
        wr += r;
        squares_left += l * l;
        squares_right += r * r;
      }
      reaches |= squares_left * wr + squares_right * wl >= needed_ * (wl * wr);
    }
    return reaches;
  }

  double bound_of_corners(const double* own) {
    const int n_classes = rows_.n_classes;
    if constexpr (kIsGini)
      if (!may_reach(own)) return kClosed;
    double most = kClosed;
    std::array<double, kMostCorners> l, r;
    for (uint32_t mask = 0; mask < 1u << n_classes; ++mask) {
      for (int k = 0; k < n_classes; ++k) {
        l[k] = left_[1 + k] + (mask >> k & 1 ? own[1 + k] : 0.0);
        r[k] = rows_.total[1 + k] - l[k];
      }
      const double wl = crit_.weight(l.data()), wr = crit_.weight(r.data());
      if (wl > 0 && wr > 0) most = std::max(most, crit_.score(l.data(), wl, r.data(), wr).value);
    }
    return most;
  }

  // The score at the left boundary plus, for each class, its rows in the bin times the greatest slope anywhere in it.
  double bound_of_slope(const double* own) {
    const int n_classes = rows_.n_classes;
    constexpr bool kEntropy = std::is_same_v<Crit, Entropy<0>> || std::is_same_v<Crit, Entropy<2>>;
    constexpr bool kChi = std::is_same_v<Crit, ChiSquare<0>> || std::is_same_v<Crit, ChiSquare<2>>;
    const double* const l = left_.data() + 1;
    right_.resize(n_classes);
    double wl = 0, wr = 0, n = 0, sl = 0, sr = 0, steepest = 0;
    const auto factor = [&](int k) {
      return kChi && rows_.total[1 + k] > 0 ? node_.totals.weight / rows_.total[1 + k] : 1.0;
    };
    for (int k = 0; k < n_classes; ++k) {
      right_[k] = std::max(0.0, rows_.total[1 + k] - l[k]);
      wl += l[k];
      wr += right_[k];
      n += own[1 + k];
      sl += factor(k) * l[k] * l[k];
      sr += factor(k) * right_[k] * right_[k];
      steepest = std::max(steepest, factor(k));
    }
    if (wr <= 0) return kOpen;
    const double after = wr - n;
    const double fall = sl / ((wl + n) * (wl + n)), rise = after > 0 ? std::min(steepest, sr / (after * after)) : steepest;
    double gain = 0;
    for (int k = 0; k < n_classes; ++k) {
      const double c = own[1 + k];
      if (c <= 0) continue;
      const double in_left = (l[k] + c) / (wl + c), in_right = wr > c ? std::max(0.0, right_[k] - c) / (wr - c) : 0.0;
      double slope;
      if constexpr (kEntropy) {
        if (in_right <= 0) return kOpen;
        slope = std::log2(in_left) - std::log2(in_right);
      } else {
        slope = factor(k) * 2 * (in_left - in_right) - fall + rise;
      }
      gain += c * std::max(0.0, slope);
    }
    // Where nothing is left of the bin, the score at its boundary is that of the undivided node: nothing.
    const double start = wl > 0 ? crit_.score(l, wl, right_.data(), wr).value : 0.0;
    return start + (kChi ? gain : gain / node_.totals.weight);
  }

  // A share p of the bin's weight has a sum of p times the bin's, give or take sqrt(p (1 - p) W Q) (Cauchy and
  // Schwarz; W its weight, Q its sum of squares about the mean). The ellipse has an octagon around it.
  double bound_of_sums(double squares, const double* own) {
    const double weight = own[1], sum = own[2];
    const double spread = std::sqrt(weight * std::max(0.0, squares * (1 + 1e-12) - sum * sum / weight));
    const double total = rows_.total[2], all = rows_.total[1], least = 1e-12 * all;
    const double after = all - left_[1] - weight;
    constexpr std::array<std::array<double, 2>, 4> kCorners{{{0, 1.0 / 6}, {0.25, 0.5}, {0.75, 0.5}, {1, 1.0 / 6}}};
    double most = kClosed;
    for (const auto& [share, apart] : kCorners) {
      for (const double sign : {-1.0, 1.0}) {
        const double wl = left_[1] + share * weight, sl = left_[2] + share * sum + sign * apart * spread;
        const double wr = all - wl, sr = total - sl;
        // Of rows of one bin alone no sum of squares is greater than all of the bin's.
        const double l = left_[1] > least ? sl * sl / wl : squares, r = after > least ? sr * sr / wr : squares;
        most = std::max(most, l + r);
      }
    }
    return most - total * total / all;
  }

  // Sorts the rows of these bins and keeps each one's best cut.
  void open(const std::vector<int>& bins, std::vector<BinnedCut>& inner) {
    if (bins.empty()) return;
    gather(bins);
    for (size_t i = 0; i < bins.size(); ++i) {
      uint64_t* const begin = scratch_.sorted.data() + start_[i];
      uint64_t* const end = scratch_.sorted.data() + start_[i + 1];
      order_bin(column_, rows_, begin, end, 0, scratch_);
      scan_bin(bins[i], begin, end, inner[bins[i]]);
      bound_[bins[i]] = kClosed;
    }
  }

  // Positions, bin by bin.
  void gather(const std::vector<int>& bins) {
    constexpr uint32_t kNot = UINT32_MAX;
    std::array<uint32_t, 256> at;
    at.fill(kNot);
    start_.assign(1, 0);
    for (const int bin : bins) {
      at[bin] = static_cast<uint32_t>(start_.back());
      start_.push_back(start_.back() + static_cast<int64_t>(of_bin(bin)[0]));
    }
    scratch_.sorted.resize(start_.back());
    const uint8_t* codes = column_.codes8.data();
    for (int64_t i = 0; i < rows_.n; ++i) {
      uint32_t& place = at[codes[rows_.rows[i]]];
      if (place != kNot) scratch_.sorted[place++] = static_cast<uint64_t>(i);
    }
  }

  void scan_bin(int bin, const uint64_t* begin, const uint64_t* end, BinnedCut& out) {
    const double* before = before_.data() + static_cast<size_t>(bin) * stride_;
    std::vector<double> prefix(before, before + stride_);
    auto scanner = scanner_into(out.best);
    const bool sums = rows_.measure == Measure::sums;
    for (const uint64_t* item = begin; item + 1 < end; ++item) {
      const int64_t position = static_cast<uint32_t>(*item);
      rows_.add(position, sums ? 0 : rows_.class_at(position), prefix.data());
      const uint32_t code = static_cast<uint32_t>(*item >> 32);
      if (item[1] >> 32 != code) scanner.cut(item - begin, code, prefix.data());
    }
    if (!out.best.valid) return;
    const uint64_t* last = begin + out.best.cut;
    out.inside = true;
    out.low = value_of(*last);
    out.high = value_of(last[1]);
  }

  double value_of(uint64_t item) const { return column_.raw.number(rows_.rows[static_cast<uint32_t>(item)]); }

  const NodeView& node_;
  const NodeRows& rows_;
  const SearchRules& rules_;
  const Column& column_;
  const Monotonic& bounds_;
  const int64_t place_;
  TallyScratch& scratch_;
  const int stride_, n_bins_;
  Crit crit_;
  double needed_ = 0;  // as may_reach compares it
  std::vector<double> known_, missing_, bound_, before_, left_, right_;
  std::vector<int64_t> start_;
};

}  // namespace thetatree
