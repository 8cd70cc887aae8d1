#include "absolute.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "interrupt.h"

namespace thetatree {
namespace {

// A sort that can be stopped, since it may be of all rows.
template <class Item, class Less>
void sort_and_poll(std::vector<Item>& items, const Less& less) {
  int64_t n_compared = 0;
  std::sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
    poll_at(++n_compared);
    return less(a, b);
  });
}

// What the first of `entering` (places) come to: so many of them as each of `sizes` says, which ascend.
struct Walk {
  std::vector<int32_t> entering;
  std::vector<int64_t> sizes;
};

// Rows of equal weight. Each one's set is what is still linked when it is taken out.
std::vector<Deviation> deviations_by_links(const MedianPlaces& places, const Walk& walk) {
  const std::vector<int32_t>& entering = walk.entering;
  struct Link {
    int32_t before, behind;
  };
  // Links of places, one higher than these: 0 and the last are ends.
  const int32_t n_places = static_cast<int32_t>(places.size());
  std::vector<Link> links(static_cast<size_t>(n_places) + 2);
  const int64_t n = static_cast<int64_t>(entering.size());
  if (n == n_places) {
    for (int32_t i = 1; i <= n_places; ++i) links[i] = {i - 1, i + 1};
    links[0].behind = 1;
  } else {
    std::vector<char> enters(links.size());
    for (const int32_t place : entering) enters[place + 1] = 1;
    int32_t last = 0;
    for (int32_t i = 1; i <= n_places + 1; ++i) {
      if (i <= n_places && !enters[i]) continue;
      links[last].behind = i;
      links[i].before = last;
      last = i;
    }
  }
  int32_t middle = links[0].behind;  // the lower median
  for (int64_t i = 0; i < (n - 1) / 2; ++i) middle = links[middle].behind;
  const auto value = [&](int32_t link) { return places.value(link - 1); };
  std::vector<Deviation> out(walk.sizes.size());
  std::vector<double> added(n);
  size_t next = out.size();
  for (int64_t i = n - 1; i >= 0; --i) {
    poll_at(i);
    const bool odd = (i + 1) & 1;
    const int32_t gone = entering[i] + 1;
    double low = value(middle), high = odd ? low : value(links[middle].behind);
    if (next > 0 && walk.sizes[next - 1] == i + 1) out[--next].median = low == high ? low : low / 2 + high / 2;
    const int32_t beside = odd ? links[middle].before : links[middle].behind;
    middle = (odd ? gone >= middle : gone <= middle) ? beside : middle;
    const Link around = links[gone];
    links[around.before].behind = around.behind;
    links[around.behind].before = around.before;
    if (i == 0) break;
    low = value(middle), high = odd ? value(links[middle].behind) : low;
    const double y = value(gone);
    added[i] = std::max({0.0, low - y, y - high});
  }
  double error = 0;
  for (int64_t i = 0; i < n; ++i) {
    error += added[i];
    if (next < out.size() && walk.sizes[next] == i + 1) out[next++].error = error;
  }
  return out;
}

// Weights and weighted sums of y by place, with descent to the median.
class MedianTree {
 public:
  explicit MedianTree(const MedianPlaces& places)
      : places_(places), top_(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(1, places.size())))),
        weight_(places.size() + 1), sum_(places.size() + 1) {}

  void insert(int32_t place) {
    const double w = places_.weight(place), wy = w * places_.value(place);
    total_weight_ += w;
    total_sum_ += wy;
    for (int64_t i = int64_t{place} + 1; i <= places_.size(); i += i & -i) {
      weight_[i] += w;
      sum_[i] += wy;
    }
  }

  Deviation deviation() const {
    if (total_weight_ <= 0) return {};
    const double half = total_weight_ / 2;
    // `upper` places hold at most half the weight, `lower` places less than half: the place behind each is
    // the upper and the lower median.
    const auto [upper, below, sum_below] = descend([&](double weight) { return weight <= half; });
    const auto [lower, unused, unused_sum] = descend([&](double weight) { return weight < half; });
    const double high = places_.value(std::min(upper, places_.size() - 1));
    const double low = places_.value(std::min(lower, places_.size() - 1));
    const double median = low == high ? high : low / 2 + high / 2;
    const double above = total_weight_ - below, sum_above = total_sum_ - sum_below;
    return {std::max(0.0, median * below - sum_below + sum_above - median * above), median};
  }

 private:
  struct Below {
    int64_t places;
    double weight, sum;
  };
  // The longest run of lowest places whose weight is still within bounds.
  template <class Within>
  Below descend(Within within) const {
    Below at{0, 0, 0};
    for (int64_t step = static_cast<int64_t>(top_); step > 0; step >>= 1) {
      const int64_t next = at.places + step;
      if (next > places_.size() || !within(at.weight + weight_[next])) continue;
      at = {next, at.weight + weight_[next], at.sum + sum_[next]};
    }
    return at;
  }

  const MedianPlaces& places_;
  uint64_t top_;
  std::vector<double> weight_, sum_;
  double total_weight_ = 0, total_sum_ = 0;
};

// Rows of any weight.
std::vector<Deviation> deviations_by_tree(const MedianPlaces& places, const Walk& walk) {
  std::vector<Deviation> out;
  out.reserve(walk.sizes.size());
  MedianTree tree(places);
  int64_t in = 0;
  for (const int64_t size : walk.sizes) {
    for (; in < size; ++in) {
      poll_at(in);
      tree.insert(walk.entering[in]);
    }
    out.push_back(tree.deviation());
  }
  return out;
}

}  // namespace

double weighted_median(const std::vector<double>& y, const std::vector<double>& weight) {
  const int64_t n = static_cast<int64_t>(y.size());
  if (weight.empty() && n > 0) {
    std::vector<double> values = y;
    const auto upper = values.begin() + n / 2;
    std::nth_element(values.begin(), upper, values.end());
    if (n % 2 == 1) return *upper;
    const double lower = *std::max_element(values.begin(), upper);
    return lower == *upper ? lower : lower / 2 + *upper / 2;
  }
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  sort_and_poll(order, [&](int64_t a, int64_t b) { return y[a] < y[b]; });
  const auto w = [&](int64_t i) { return weight[order[i]]; };
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

std::vector<uint32_t> ranks_of(const double* y, int64_t n) {
  std::vector<std::pair<double, uint32_t>> order(n);
  for (int64_t i = 0; i < n; ++i) order[i] = {y[i], static_cast<uint32_t>(i)};
  sort_and_poll(order, std::less<>());
  std::vector<uint32_t> rank(n);
  for (int64_t i = 0; i < n; ++i) rank[order[i].second] = static_cast<uint32_t>(i);
  return rank;
}

MedianPlaces::MedianPlaces(const NodeRows& node, const std::vector<uint32_t>& rank, std::vector<uint64_t>& swap)
    : place_(node.n), value_(node.n) {
  std::vector<uint64_t> order(node.n);
  for (int64_t i = 0; i < node.n; ++i)
    order[i] = static_cast<uint64_t>(rank[node.rows[i]]) << 32 | static_cast<uint64_t>(i);
  sort_items(order.data(), order.data() + node.n, 0, static_cast<uint32_t>(rank.size()), swap);
  for (int32_t i = 0; i < node.n; ++i) {
    const uint32_t position = static_cast<uint32_t>(order[i]);
    value_[i] = node.y[position];
    place_[position] = i;
  }
  if (node.weight.empty()) return;
  weight_.resize(node.n);
  for (int64_t i = 0; i < node.n; ++i) weight_[i] = node.weight[static_cast<uint32_t>(order[i])];
}

AbsoluteError::AbsoluteError(const NodeTotals& node, const MedianPlaces& places,
                             const std::vector<int64_t>& positions, const std::vector<int64_t>& group_end)
    : RegressionCriterion(node) {
  const int64_t n = static_cast<int64_t>(positions.size()), n_groups = static_cast<int64_t>(group_end.size());
  const int64_t n_known = n_groups ? group_end.back() : 0;
  Walk walk;
  const auto start = [&](bool with_missing) {
    walk.entering.clear();
    walk.sizes.clear();
    if (!with_missing) return;
    for (int64_t i = n_known; i < n; ++i) walk.entering.push_back(places.place(positions[i]));
  };
  const auto enter = [&](int64_t group) {
    for (int64_t i = group ? group_end[group - 1] : 0; i < group_end[group]; ++i)
      walk.entering.push_back(places.place(positions[i]));
    walk.sizes.push_back(static_cast<int64_t>(walk.entering.size()));
  };
  const auto deviations = [&] {
    return places.weighted() ? deviations_by_tree(places, walk) : deviations_by_links(places, walk);
  };
  const auto forwards = [&](bool with_missing) {
    start(with_missing);
    for (int64_t g = 0; g < n_groups; ++g) enter(g);
    return deviations();
  };
  const auto backwards = [&](bool with_missing) {
    start(with_missing);
    for (int64_t g = n_groups - 1; g > 0; --g) enter(g);
    std::vector<Deviation> out = deviations();
    std::reverse(out.begin(), out.end());
    return out;
  };
  forward_ = forwards(false);
  backward_ = backwards(false);
  if (n_known == n) return;
  forward_missing_ = forwards(true);
  backward_missing_ = backwards(true);
  start(true);
  walk.sizes.push_back(n - n_known);
  missing_only_ = deviations()[0];
}

}  // namespace thetatree
