#include "absolute.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace thetatree {
namespace {

// Weights and weighted sums of y by rank, with descent to the median.
class MedianTree {
 public:
  explicit MedianTree(const MedianRanks& ranks)
      : ranks_(ranks), top_(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(1, ranks.size())))),
        weight_(ranks.size() + 1), sum_(ranks.size() + 1) {}

  void insert(int64_t position) {
    const NodeRows& node = ranks_.node();
    const double w = node.weight.empty() ? 1.0 : node.weight[position];
    const double wy = w * node.y[position];
    total_weight_ += w;
    total_sum_ += wy;
    for (int64_t i = ranks_.rank(position) + 1; i <= ranks_.size(); i += i & -i) {
      weight_[i] += w;
      sum_[i] += wy;
    }
  }

  Deviation deviation() const {
    if (total_weight_ <= 0) return {};
    const double half = total_weight_ / 2;
    // `upper` ranks hold at most half the weight, `lower` ranks less than half: the rank behind each is
    // the upper and the lower median.
    const auto [upper, below, sum_below] = descend([&](double weight) { return weight <= half; });
    const auto [lower, unused, unused_sum] = descend([&](double weight) { return weight < half; });
    const double high = ranks_.value(std::min(upper, ranks_.size() - 1));
    const double low = ranks_.value(std::min(lower, ranks_.size() - 1));
    const double median = low == high ? high : low / 2 + high / 2;
    const double above = total_weight_ - below, sum_above = total_sum_ - sum_below;
    return {std::max(0.0, median * below - sum_below + sum_above - median * above), median};
  }

 private:
  struct Below {
    int64_t ranks;
    double weight, sum;
  };
  // The longest run of lowest ranks whose weight is still within bounds.
  template <class Within>
  Below descend(Within within) const {
    Below at{0, 0, 0};
    for (int64_t step = static_cast<int64_t>(top_); step > 0; step >>= 1) {
      const int64_t next = at.ranks + step;
      if (next > ranks_.size() || !within(at.weight + weight_[next])) continue;
      at = {next, at.weight + weight_[next], at.sum + sum_[next]};
    }
    return at;
  }

  const MedianRanks& ranks_;
  uint64_t top_;
  std::vector<double> weight_, sum_;
  double total_weight_ = 0, total_sum_ = 0;
};

}  // namespace

double weighted_median(const std::vector<double>& y, const std::vector<double>& weight) {
  const int64_t n = static_cast<int64_t>(y.size());
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return y[a] < y[b]; });
  const auto w = [&](int64_t i) { return weight.empty() ? 1.0 : weight[order[i]]; };
  double total = 0;
  for (int64_t i = 0; i < n; ++i) total += w(i);
  double below = 0;
  for (int64_t i = 0; i < n; ++i) {
    below += w(i);
    if (below > total / 2) return y[order[i]];
    if (below == total / 2 && i + 1 < n) return y[order[i]] / 2 + y[order[i + 1]] / 2;
  }
  return n > 0 ? y[order[n - 1]] : 0;
}

MedianRanks::MedianRanks(const NodeRows& node) : node_(node), rank_(node.n) {
  std::vector<int64_t> order(node.n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return node.y[a] < node.y[b]; });
  for (int64_t i = 0; i < node.n; ++i) {
    if (value_.empty() || node.y[order[i]] != value_.back()) value_.push_back(node.y[order[i]]);
    rank_[order[i]] = static_cast<int32_t>(value_.size()) - 1;
  }
}

AbsoluteError::AbsoluteError(const NodeTotals& node, const MedianRanks& ranks,
                             const std::vector<int64_t>& positions, const std::vector<int64_t>& group_end)
    : RegressionCriterion(node) {
  const int64_t n_groups = static_cast<int64_t>(group_end.size());
  const int64_t n_known = n_groups ? group_end.back() : 0;
  const int64_t n = static_cast<int64_t>(positions.size());
  const auto begin = [&](int64_t group) { return group ? group_end[group - 1] : 0; };
  const auto insert_missing = [&](MedianTree& tree) {
    for (int64_t i = n_known; i < n; ++i) tree.insert(positions[i]);
  };
  const auto forwards = [&](MedianTree& tree, std::vector<Deviation>& out) {
    out.resize(n_groups);
    for (int64_t g = 0; g < n_groups; ++g) {
      for (int64_t i = begin(g); i < group_end[g]; ++i) tree.insert(positions[i]);
      out[g] = tree.deviation();
    }
  };
  const auto backwards = [&](MedianTree& tree, std::vector<Deviation>& out) {
    out.resize(n_groups);
    for (int64_t g = n_groups - 1; g > 0; --g) {
      for (int64_t i = begin(g); i < group_end[g]; ++i) tree.insert(positions[i]);
      out[g - 1] = tree.deviation();
    }
  };
  MedianTree front(ranks), back(ranks);
  forwards(front, forward_);
  backwards(back, backward_);
  if (n_known == n) return;
  MedianTree front_missing(ranks), back_missing(ranks);
  insert_missing(front_missing);
  missing_only_ = front_missing.deviation();
  forwards(front_missing, forward_missing_);
  insert_missing(back_missing);
  backwards(back_missing, backward_missing_);
}

}  // namespace thetatree
