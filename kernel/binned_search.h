// Exact cuts of a number at the cost of counting bytes.
//
//   bin       a run of neighbouring codes, numbered by a byte (columns.h)
//   boundary  the cut between two bins
//   bound     what no cut inside a bin can beat
//   floor     a score that some feature reaches for certain: what stays below it need not be looked at
//
// Left tallies of cuts inside a bin lie in the box between its two boundaries, and gini, entropy, chi-square and
// squared error are convex in them, so that the box's corners bound them. Only bins whose bound is not beaten are
// opened: their rows are sorted and scanned. Of 300,000 rows that is 0.4% at the root where there is signal.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "feature_search.h"

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

template <class Crit>
class BinnedSearch {
 public:
  BinnedSearch(const NodeView& node, const SearchRules& rules, const Column& column, const Monotonic& bounds,
               const BinTally& tally, TallyScratch& scratch)
      : node_(node), rows_(*node.rows), rules_(rules), column_(column), bounds_(bounds), tally_(tally),
        scratch_(scratch), stride_(rows_.stride()), n_bins_(column.n_bins()), crit_(node.totals) {
    const double* missing = tally.of_bin(n_bins_, stride_);
    missing_.assign(missing, missing + stride_);
    known_ = rows_.total;
    for (int i = 0; i < stride_; ++i) known_[i] -= missing_[i];
  }

  // The best boundary.
  Candidate boundaries() {
    Candidate best;
    scan({}, best);
    return best;
  }

  // The best cut of all, unless every cut is below the floor. False where sorting all rows is the shorter way.
  bool best(double floor, Candidate& out) {
    const Candidate outer = boundaries();
    if (outer.valid) floor = std::max(floor, outer.score.value);
    find_bounds();
    std::vector<Candidate> inner(n_bins_);
    std::vector<int> wanted = not_below(floor);
    // The most promising first: what they reach closes most of the others.
    constexpr size_t kFirst = 4;
    if (wanted.size() > kFirst) {
      std::vector<int> first = wanted;
      std::nth_element(first.begin(), first.begin() + kFirst, first.end(),
                       [&](int a, int b) { return bound_[a] != bound_[b] ? bound_[a] > bound_[b] : a < b; });
      first.resize(kFirst);
      open(first, inner);
      for (const int bin : first)
        if (inner[bin].valid) floor = std::max(floor, inner[bin].score.value);
      wanted = not_below(floor);
    }
    double n_wanted = 0;
    for (const int bin : wanted) n_wanted += tally_.of_bin(bin, stride_)[0];
    if (n_wanted > kTooMany * rows_.n) return false;
    open(wanted, inner);
    scan(inner, out);
    return true;
  }

 private:
  static constexpr double kTooMany = 0.6;  // of the rows
  static constexpr double kClosed = -std::numeric_limits<double>::infinity();  // nothing to find inside

  Scanner<Crit> scanner_into(Candidate& best) {
    return Scanner<Crit>(crit_, rules_.limits, bounds_, rules_.missing, known_.data(), missing_.data(), best);
  }

  // Boundaries and what opened bins hold, in order, so that ties end as in a scan of every cut.
  void scan(const std::vector<Candidate>& inner, Candidate& best) {
    auto scanner = scanner_into(best);
    std::vector<double> prefix(stride_);
    for (int bin = 0; bin < n_bins_; ++bin) {
      const double* own = tally_.of_bin(bin, stride_);
      if (own[0] == 0) continue;
      if (!inner.empty() && inner[bin].valid &&
          (!best.valid || beats(inner[bin].score, best.score, crit_.scale())))
        best = inner[bin];
      add_to(own, stride_, prefix.data());
      const uint32_t last = column_.bin_first[bin + 1] - 1;
      if (prefix[0] == known_[0]) return scanner.known_apart(last, last);
      scanner.cut(last, last, prefix.data());
    }
  }

  void find_bounds() {
    bound_.assign(n_bins_, kClosed);
    before_.assign(static_cast<size_t>(n_bins_ + 1) * stride_, 0.0);
    for (int bin = 0; bin < n_bins_; ++bin) {
      double* const before = before_.data() + static_cast<size_t>(bin) * stride_;
      const double* own = tally_.of_bin(bin, stride_);
      if (own[0] > 1 && column_.bin_first[bin + 1] - column_.bin_first[bin] > 1) bound_[bin] = bound(before, own);
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

  // The best score at any corner of the box, missing rows on either side.
  double bound(const double* before, const double* own) {
    double most = kClosed;
    corner_.resize(2 * stride_);
    if constexpr (std::is_same_v<Crit, SquaredError>) {
      // Some of the bin's rows, j by weight, with sum s: s is between j times the least and the greatest y, and so
      // is the rest's. The two outer corners of that quadrangle; the others are the boundaries.
      const double weight = own[1], sum = own[2], low = rows_.lowest, high = rows_.highest;
      const double spread = high - low;
      if (spread <= 0) return most;
      const double j = (sum - weight * low) / spread;  // rows of the greatest y that would give the sum
      most = std::max(most, at_corner(before, {j, j * high}));
      most = std::max(most, at_corner(before, {weight - j, (weight - j) * low}));
    } else {
      const int n_classes = rows_.n_classes;
      for (uint32_t mask = 0; mask < 1u << n_classes; ++mask) {
        for (int k = 0; k < n_classes; ++k) inside_[k] = mask >> k & 1 ? own[1 + k] : 0.0;
        most = std::max(most, at_corner(before, inside_));
      }
    }
    return most;
  }

  double at_corner(const double* before, const std::array<double, kMostClassesBinned>& inside) {
    double *left = corner_.data(), *right = left + stride_;
    double most = kClosed;
    for (const bool missing_left : {false, true}) {
      for (int i = 1; i < stride_; ++i) {
        left[i] = before[i] + inside[i - 1] + (missing_left ? missing_[i] : 0.0);
        right[i] = rows_.total[i] - left[i];
      }
      const double wl = crit_.weight(left + 1), wr = crit_.weight(right + 1);
      if (wl > 0 && wr > 0) most = std::max(most, crit_.score(left + 1, wl, right + 1, wr).value);
      if (missing_[0] == 0) break;
    }
    return most;
  }

  // Sorts the rows of these bins and keeps each one's best cut.
  void open(const std::vector<int>& bins, std::vector<Candidate>& inner) {
    if (bins.empty()) return;
    gather(bins);
    for (size_t i = 0; i < bins.size(); ++i) {
      uint64_t* const begin = scratch_.sorted.data() + start_[i];
      uint64_t* const end = scratch_.sorted.data() + start_[i + 1];
      sort_items(begin, end, column_.bin_first[bins[i]], column_.bin_first[bins[i] + 1] - 1, scratch_.sorted_swap);
      scan_bin(bins[i], begin, end, inner[bins[i]]);
      bound_[bins[i]] = kClosed;
    }
  }

  // Pairs of code and position, bin by bin.
  void gather(const std::vector<int>& bins) {
    constexpr uint32_t kNot = UINT32_MAX;
    std::array<uint32_t, 256> at;
    at.fill(kNot);
    start_.assign(1, 0);
    for (const int bin : bins) {
      at[bin] = static_cast<uint32_t>(start_.back());
      start_.push_back(start_.back() + static_cast<int64_t>(tally_.of_bin(bin, stride_)[0]));
    }
    scratch_.sorted.resize(start_.back());
    with_code_type(column_, [&](const auto* codes) {
      for (int64_t i = 0; i < rows_.n; ++i) {
        uint32_t& place = at[column_.bins[rows_.rows[i]]];
        if (place != kNot)
          scratch_.sorted[place++] = static_cast<uint64_t>(codes[rows_.rows[i]]) << 32 | static_cast<uint64_t>(i);
      }
    });
  }

  void scan_bin(int bin, const uint64_t* begin, const uint64_t* end, Candidate& best) {
    const double* before = before_.data() + static_cast<size_t>(bin) * stride_;
    std::vector<double> prefix(before, before + stride_);
    auto scanner = scanner_into(best);
    const bool sums = rows_.measure == Measure::sums;
    for (const uint64_t* item = begin; item + 1 < end; ++item) {
      const int64_t position = static_cast<uint32_t>(*item);
      rows_.add(position, sums ? 0 : rows_.class_at(position), prefix.data());
      const uint32_t code = static_cast<uint32_t>(*item >> 32);
      if (item[1] >> 32 != code) scanner.cut(code, code, prefix.data());
    }
  }

  const NodeView& node_;
  const NodeRows& rows_;
  const SearchRules& rules_;
  const Column& column_;
  const Monotonic& bounds_;
  const BinTally& tally_;
  TallyScratch& scratch_;
  const int stride_, n_bins_;
  Crit crit_;
  std::vector<double> known_, missing_, bound_, before_, corner_;
  std::array<double, kMostClassesBinned> inside_{};
  std::vector<int64_t> start_;
};

}  // namespace thetatree
