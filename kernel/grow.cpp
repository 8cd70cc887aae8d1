#include "grow.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <queue>

#include "absolute.h"
#include "parallel.h"

namespace thetatree {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

// A node that is grown; `first` and `last` bound its rows until it is split.
struct Node {
  int64_t first = 0, last = 0;
  int64_t depth = 0;
  uint64_t key = 0;
  Monotonic bounds;
  double weight = 0, impurity = 0;
  double centre = 0;  // what the sums of y are taken from
  std::vector<double> value;
  int64_t feature = -1;  // -1: a leaf, as far as is known
  FeatureSplit split;
  double threshold = kUndefined;
  double decrease = 0;  // weighted by the node's share of the root
  int64_t left = -1, right = -1;
  std::vector<double> trace;  // each feature's best score
};

class Grower {
 public:
  Grower(const Columns& columns, const Target& target, const GrowRules& rules)
      : columns_(columns), target_(target), rules_(rules), rows_(columns.n_rows()), swap_(columns.n_rows()),
        goes_left_(columns.n_rows()), scratch_(std::max(1, rules.n_threads)) {
    order_rows();
    order_features();
    root_weight_ = 0;
    for (int64_t i = 0; i < columns.n_rows(); ++i) root_weight_ += weight_of(i);
    rules_.search.limits.root_weight = root_weight_;
  }

  GrownTree grow() {
    add_root();
    if (rules_.max_leaf_nodes > 0) grow_best_first();
    else grow_depth_first();
    return in_preorder();
  }

  RootCandidates candidates() {
    add_root();
    RootCandidates out;
    out.splits.resize(columns_.n_features());
    if (prepare(nodes_[0])) search(nodes_[0], all_, out.splits);
    for (int64_t f = 0; f < columns_.n_features(); ++f)
      out.threshold.push_back(out.splits[f].best.valid ? place_threshold(nodes_[0], f, out.splits[f]) : kUndefined);
    return out;
  }

 private:
  double weight_of(int64_t row) const { return target_.weight ? target_.weight[row] : 1.0; }
  bool classifies() const { return rules_.n_classes > 0; }

  // Rows grouped by class, each class in the caller's order (a counting sort).
  void order_rows() {
    if (!classifies()) {
      std::iota(rows_.begin(), rows_.end(), 0u);
      return;
    }
    std::vector<int64_t> at(rules_.n_classes + 1);
    for (int64_t i = 0; i < columns_.n_rows(); ++i) ++at[target_.classes[i] + 1];
    for (int k = 0; k < rules_.n_classes; ++k) at[k + 1] += at[k];
    for (int64_t i = 0; i < columns_.n_rows(); ++i)
      rows_[at[target_.classes[i]]++] = static_cast<uint32_t>(i);
  }

  // Every feature, and the tiers in the order in which they are tried, each in column order.
  void order_features() {
    all_.resize(columns_.n_features());
    std::iota(all_.begin(), all_.end(), 0);
    if (rules_.tier.empty()) {
      tiers_.push_back(all_);
      return;
    }
    std::map<int32_t, std::vector<int64_t>> of_tier;
    for (const int64_t f : all_) of_tier[rules_.tier[f]].push_back(f);
    for (auto& [tier, features] : of_tier) tiers_.push_back(std::move(features));
  }

  void add_root() {
    Node root;
    root.last = columns_.n_rows();
    root.key = mix(rules_.seed);
    root.bounds.bounded = !rules_.monotonic.empty();
    nodes_.push_back(std::move(root));
  }

  void grow_depth_first() {
    std::vector<int64_t> open{0};
    while (!open.empty()) {
      const int64_t id = open.back();
      open.pop_back();
      if (!examine(id)) continue;
      divide(id);
      open.push_back(nodes_[id].right);
      open.push_back(nodes_[id].left);
    }
  }

  void grow_best_first() {
    using Entry = std::pair<double, int64_t>;  // urgency, -id: the earlier node wins a tie
    std::priority_queue<Entry> open;
    if (examine(0)) open.push({urgency(nodes_[0]), 0});
    for (int64_t leaves = 1; leaves < rules_.max_leaf_nodes && !open.empty(); ++leaves) {
      const int64_t id = -open.top().second;
      open.pop();
      divide(id);
      for (const int64_t child : {nodes_[id].left, nodes_[id].right})
        if (examine(child)) open.push({urgency(nodes_[child]), -child});
    }
    // What is still open stays a leaf.
    for (; !open.empty(); open.pop()) nodes_[-open.top().second].feature = -1;
  }

  double loss(const Node& node) const { return node.weight * node.impurity; }
  double urgency(const Node& node) const { return rules_.largest_first ? loss(node) : node.decrease; }

  // Counts the node, and finds its best split unless a rule makes it a leaf.
  bool examine(int64_t id) {
    Node& node = nodes_[id];
    if (!prepare(node)) return false;
    std::vector<FeatureSplit>& found = found_;
    found.clear();
    found.resize(columns_.n_features());
    const int64_t feature = choose(node, found);
    if (rules_.trace)
      for (const FeatureSplit& split : found)
        node.trace.push_back(split.best.valid ? split.best.score.value : kUndefined);
    if (feature < 0) return false;
    node.feature = feature;
    node.split = std::move(found[feature]);
    node.threshold = place_threshold(node, feature, node.split);
    node.decrease = std::max(0.0, node.split.best.decrease) * node.weight / root_weight_;
    return true;
  }

  // Tallies of the node itself. False where it must stay a leaf.
  bool prepare(Node& node) {
    count_rows(node);
    if (node.depth == 0) root_loss_ = loss(node);
    const Limits& limits = rules_.search.limits;
    const int64_t n = node.last - node.first;
    if (pure_) return false;
    if (rules_.max_depth >= 0 && node.depth >= rules_.max_depth) return false;
    if (n < rules_.min_samples_split || static_cast<double>(n) < 2 * limits.min_leaf) return false;
    if (node.weight < 2 * limits.min_weight) return false;
    if (rules_.worth.p1 > 0 && compare_scores(loss(node), rules_.worth.p1 * root_loss_, root_loss_) < 0) return false;
    return !(rules_.min_impurity_split > 0 && node.impurity <= rules_.min_impurity_split);
  }

  void count_rows(Node& node) {
    NodeRows& view = view_;
    view.measure = !classifies() ? Measure::sums : target_.weight ? Measure::weights : Measure::counts;
    view.rows = rows_.data() + node.first;
    view.n = node.last - node.first;
    view.n_classes = rules_.n_classes;
    if (target_.weight) {
      view.weight.resize(view.n);
      for (int64_t i = 0; i < view.n; ++i) view.weight[i] = target_.weight[view.rows[i]];
    }
    if (classifies()) count_classes(node);
    else sum_target(node);
    node.centre = classifies() ? 0 : view.centre;
    if (node.bounds.bounded) clip_value(node);
  }

  void count_classes(Node& node) {
    NodeRows& view = view_;
    const int n_classes = rules_.n_classes;
    view.class_begin.assign(n_classes + 1, view.n);
    view.class_begin[0] = 0;
    for (int k = 1; k < n_classes; ++k)
      view.class_begin[k] =
          std::lower_bound(view.rows, view.rows + view.n, k,
                           [&](uint32_t row, int label) { return target_.classes[row] < label; }) -
          view.rows;
    view.total.assign(n_classes + 1, 0.0);
    view.total[0] = static_cast<double>(view.n);
    int present = 0;
    node.weight = 0;
    for (int k = 0; k < n_classes; ++k) {
      const int64_t begin = view.class_begin[k], end = view.class_begin[k + 1];
      present += end > begin;
      if (target_.weight)
        for (int64_t i = begin; i < end; ++i) view.total[1 + k] += view.weight[i];
      else
        view.total[1 + k] = static_cast<double>(end - begin);
      node.weight += view.total[1 + k];
    }
    pure_ = present <= 1;
    node.impurity = pure_ ? 0 : class_impurity(impurity_of(rules_.search.criterion), view.total.data() + 1,
                                               n_classes, node.weight);
    node.value.resize(n_classes);
    for (int k = 0; k < n_classes; ++k) node.value[k] = view.total[1 + k] / node.weight;
  }

  // Sums are taken of y less the node's own mean, so that an offset of y costs no digits.
  void sum_target(Node& node) {
    NodeRows& view = view_;
    const Criterion criterion = rules_.search.criterion;
    view.y.resize(view.n);
    double weight = 0, sum = 0;
    double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
    const double shift = target_.y[view.rows[0]];
    for (int64_t i = 0; i < view.n; ++i) {
      const double y = target_.y[view.rows[i]], w = view.weight.empty() ? 1.0 : view.weight[i];
      view.y[i] = y;
      lowest = std::fmin(lowest, y);
      highest = std::fmax(highest, y);
      weight += w;
      sum += w * (y - shift);
    }
    pure_ = lowest == highest;
    view.lowest = lowest;
    view.highest = highest;
    node.weight = weight;
    const double mean = pure_ ? lowest : shift + sum / weight;
    const bool median = criterion == Criterion::absolute_error;
    const double centre = median ? weighted_median(view.y, view.weight) : mean;
    node.value.assign(1, centre);
    view.centre = centre;
    view.lowest -= centre;
    view.highest -= centre;
    view.total.assign(3, 0.0);
    double loss = 0;
    for (int64_t i = 0; i < view.n; ++i) {
      const double w = view.weight.empty() ? 1.0 : view.weight[i];
      view.y[i] -= view.centre;
      view.total[2] += w * view.y[i];
      if (criterion == Criterion::squared_error) loss += w * view.y[i] * view.y[i];
      if (median) loss += w * std::fabs(view.y[i]);
      if (criterion == Criterion::poisson) loss += w * mean * poisson_deviance(view.y[i] / mean);
    }
    view.total[0] = static_cast<double>(view.n);
    view.total[1] = weight;
    if (criterion == Criterion::squared_error) loss -= view.total[2] * view.total[2] / weight;
    node.impurity = pure_ ? 0 : std::fmax(0.0, loss / weight);
  }

  void clip_value(Node& node) {
    double& value = classifies() ? node.value[1] : node.value[0];
    value = std::clamp(value, node.bounds.lower, node.bounds.upper);
    if (classifies()) node.value[0] = 1 - value;
    centred_bounds_ = node.bounds;
    centred_bounds_.lower -= node.centre;
    centred_bounds_.upper -= node.centre;
  }

  // The first tier of which a feature can split the node. Where the trace is kept, all are looked at.
  int64_t choose(const Node& node, std::vector<FeatureSplit>& found) {
    constexpr double kAny = -std::numeric_limits<double>::infinity();
    const bool forced = node.depth == 0 && rules_.force >= 0;
    const std::vector<int64_t> only{rules_.force};
    const bool at_once = rules_.trace && rules_.max_features <= 0;
    if (at_once) search(node, all_, found);
    else if (forced) search(node, only, found);
    if (forced) return best_of(node, only, found, kAny);
    const double least =
        rules_.worth.least_score(rules_.search.criterion, node.impurity, loss(node), root_loss_);
    for (const auto& tier : tiers_) {
      const int64_t best = at_once ? best_of(node, tier, found, least) : choose_among(node, tier, found, least);
      if (best >= 0) return best;
    }
    return -1;
  }

  // Of all these features, or of max_features drawn at random and more until one of them can split.
  int64_t choose_among(const Node& node, const std::vector<int64_t>& features, std::vector<FeatureSplit>& found,
                       double least) {
    const int64_t n = static_cast<int64_t>(features.size());
    std::vector<int64_t> order = features;
    const int64_t most = rules_.max_features > 0 ? std::min(n, rules_.max_features) : n;
    if (most == n) {
      search(node, order, found);
      return best_of(node, order, found, least);
    }
    Random random(child_key(node.key, 0));
    for (int64_t i = n - 1; i > 0; --i)
      std::swap(order[i], order[random.below(static_cast<uint64_t>(i) + 1)]);
    for (int64_t begin = 0; begin < n; begin += begin ? 1 : most) {
      const int64_t end = begin ? begin + 1 : most;
      std::vector<int64_t> drawn(order.begin() + begin, order.begin() + std::min(end, n));
      std::sort(drawn.begin(), drawn.end());
      search(node, drawn, found);
      const int64_t best = best_of(node, drawn, found, least);
      if (best >= 0) return best;
    }
    return -1;
  }

  void search(const Node& node, const std::vector<int64_t>& features, std::vector<FeatureSplit>& found) {
    NodeView view;
    view.columns = &columns_;
    view.rows = &view_;
    view.totals = {classifies() ? rules_.n_classes : 2, view_.total.data() + 1, node.weight, node.impurity,
                   node.centre};
    if (node.bounds.bounded) view.bounds = centred_bounds_;
    view.key = node.key;
    const int64_t work = view_.n * static_cast<int64_t>(features.size());
    const int n_threads = work > 50000 ? rules_.n_threads : 1;
    if (columns_.words_per_row() > 0) {
      tally_packed(columns_, view_, n_threads, packed_);
      view.packed = &packed_;
    }
    if (columns_.sparse().n_columns() > 0) {
      tally_sparse(columns_, view_, sparse_);
      view.sparse = &sparse_;
    }
    std::optional<MedianRanks> medians;
    if (rules_.search.criterion == Criterion::absolute_error) view.medians = &medians.emplace(view_);
    const double floor = search_bins(view, features, n_threads);
    parallel_for(n_threads, static_cast<int64_t>(features.size()), [&](int64_t i, int thread) {
      const int64_t feature = features[i];
      const Column& column = columns_.column(feature);
      int64_t sparse_at = -1;
      if (column.store == Store::sparse) {
        const auto at = std::lower_bound(sparse_.touched.begin(), sparse_.touched.end(), column.slot);
        if (at == sparse_.touched.end() || *at != column.slot) return;
        sparse_at = at - sparse_.touched.begin();
      }
      const BinTally* bins = searched_by_bins(view, rules_.search, feature) ? &bins_[feature] : nullptr;
      found[feature] = search_feature(view, rules_.search, feature, direction_of(feature), sparse_at,
                                      scratch_[thread], bins, floor);
    });
  }

  int direction_of(int64_t feature) const { return rules_.monotonic.empty() ? 0 : rules_.monotonic[feature]; }

  // Counts the bins of all features that have them. What one of these reaches between bins, no other need stay
  // below, unless each one's own best is wanted.
  double search_bins(const NodeView& view, const std::vector<int64_t>& features, int n_threads) {
    constexpr double kNone = -std::numeric_limits<double>::infinity();
    bins_.resize(columns_.n_features());
    std::vector<double> reached(features.size(), kNone);
    parallel_for(n_threads, static_cast<int64_t>(features.size()), [&](int64_t i, int thread) {
      if (!searched_by_bins(view, rules_.search, features[i])) return;
      reached[i] = search_boundaries(view, rules_.search, features[i], direction_of(features[i]), scratch_[thread],
                                     bins_[features[i]]);
    });
    if (rules_.each_best) return kNone;
    return *std::max_element(reached.begin(), reached.end());
  }

  int64_t best_of(const Node& node, const std::vector<int64_t>& features,
                  const std::vector<FeatureSplit>& found, double least) const {
    const double scale = tie_scale(node);
    int64_t best = -1;
    for (const int64_t f : features) {
      // A feature's best candidate has its highest score: what this one misses, all its others miss.
      if (!found[f].best.valid || compare_scores(found[f].best.score.value, least, scale) < 0) continue;
      if (best < 0 || beats(found[f].best.score, found[best].best.score, scale)) best = f;
    }
    return best;
  }

  double tie_scale(const Node& node) const {
    switch (rules_.search.criterion) {
      case Criterion::gini:
      case Criterion::entropy: return node.impurity;
      case Criterion::chi_square: return node.weight;
      case Criterion::squared_error:
      case Criterion::absolute_error:
      case Criterion::poisson: return node.weight * node.impurity;
      default: return 1;
    }
  }

  // Half-way between the node's values on either side of the cut, never on the wrong side of either.
  double place_threshold(const Node& node, int64_t feature, const FeatureSplit& split) const {
    if (split.kind == SplitKind::presence) return 0.5;
    if (split.kind != SplitKind::threshold) return kUndefined;
    if (split.threshold_drawn) return split.threshold;
    const Column& column = columns_.column(feature);
    uint32_t low = 0, high = column.levels;
    int64_t low_row = -1, high_row = -1;
    for (int64_t i = node.first; i < node.last; ++i) {
      const uint32_t code = columns_.code(feature, rows_[i]);
      if (code <= split.best.code && (low_row < 0 || code > low)) {
        low = code;
        low_row = rows_[i];
      } else if (code > split.best.code && code < high) {
        high = code;
        high_row = rows_[i];
      }
    }
    const double a = columns_.value(feature, low, low_row), b = columns_.value(feature, high, high_row);
    const double middle = a / 2 + b / 2;
    return a <= middle && middle < b ? middle : a;
  }

  void divide(int64_t id) {
    const int64_t middle = partition(nodes_[id]);
    const Node& node = nodes_[id];
    Node left, right;
    left.first = node.first;
    left.last = right.first = middle;
    right.last = node.last;
    left.depth = right.depth = node.depth + 1;
    left.key = child_key(node.key, 0);
    right.key = child_key(node.key, 1);
    left.bounds = right.bounds = node.bounds;
    if (node.bounds.bounded) tighten(node, left.bounds, right.bounds);
    nodes_[id].left = static_cast<int64_t>(nodes_.size());
    nodes_[id].right = nodes_[id].left + 1;
    nodes_[id].split.left_codes.shrink_to_fit();
    nodes_.push_back(std::move(left));
    nodes_.push_back(std::move(right));
  }

  void tighten(const Node& node, Monotonic& left, Monotonic& right) const {
    const Candidate& best = node.split.best;
    const int direction = (columns_.column(node.feature).kind == Kind::flag ? -1 : 1) *
                          rules_.monotonic[node.feature];
    if (direction == 0 || best.known_apart) return;
    const double middle = best.left_value / 2 + best.right_value / 2 + node.centre;
    (direction > 0 ? left.upper : left.lower) = middle;
    (direction > 0 ? right.lower : right.upper) = middle;
  }

  // Stable, so that classes stay grouped and rows in order. Returns where the right side begins.
  int64_t partition(const Node& node) {
    const Column& column = columns_.column(node.feature);
    mark_left(node, column);
    int64_t left = node.first, right = 0;
    for (int64_t i = node.first; i < node.last; ++i) {
      const uint32_t row = rows_[i];
      const bool goes = goes_left_[i];
      rows_[left] = row;
      swap_[right] = row;
      left += goes;
      right += !goes;
    }
    std::copy_n(swap_.begin(), right, rows_.begin() + left);
    return left;
  }

  void mark_left(const Node& node, const Column& column) {
    const FeatureSplit& split = node.split;
    const uint32_t missing = column.levels;
    if (split.kind == SplitKind::subset) {
      std::vector<char> in_left(column.levels + 1);
      for (const int32_t code : split.left_codes) in_left[code] = 1;
      in_left[missing] = split.best.missing_left;
      mark(node, column, [&](uint32_t code) { return in_left[code] != 0; });
    } else if (split.kind == SplitKind::presence) {
      mark(node, column, [&](uint32_t code) { return code == missing ? split.best.missing_left : code == 1; });
    } else {
      const uint32_t low = split.best.known_apart ? missing - 1 : split.best.code;
      mark(node, column, [&](uint32_t code) { return code == missing ? split.best.missing_left : code <= low; });
    }
  }

  template <class GoesLeft>
  void mark(const Node& node, const Column& column, GoesLeft goes_left) {
    const int64_t feature = node.feature;
    const auto fill = [&](auto code_of) {
      for (int64_t i = node.first; i < node.last; ++i) goes_left_[i] = goes_left(code_of(rows_[i]));
    };
    switch (column.store) {
      case Store::u8: return fill([codes = column.codes8.data()](uint32_t row) -> uint32_t { return codes[row]; });
      case Store::u16: return fill([codes = column.codes16.data()](uint32_t row) -> uint32_t { return codes[row]; });
      case Store::u32: return fill([codes = column.codes32.data()](uint32_t row) { return codes[row]; });
      default: return fill([&](uint32_t row) { return columns_.code(feature, row); });
    }
  }

  GrownTree in_preorder() const {
    GrownTree tree;
    std::vector<int64_t> open{0}, parent_slot{-1};
    while (!open.empty()) {
      const int64_t id = open.back(), slot = parent_slot.back();
      open.pop_back();
      parent_slot.pop_back();
      if (slot >= 0) tree.child[slot] = static_cast<int32_t>(tree.kind.size());
      const Node& node = nodes_[id];
      append(node, tree);
      if (node.feature < 0) continue;
      const int64_t first = static_cast<int64_t>(tree.child.size()) - 2;
      open.insert(open.end(), {node.right, node.left});
      parent_slot.insert(parent_slot.end(), {first + 1, first});
    }
    return tree;
  }

  void append(const Node& node, GrownTree& tree) const {
    const bool leaf = node.feature < 0;
    const FeatureSplit& split = node.split;
    tree.kind.push_back(static_cast<uint8_t>(leaf ? SplitKind::leaf : split.kind));
    tree.feature.push_back(leaf ? -2 : static_cast<int32_t>(node.feature));
    tree.threshold.push_back(leaf ? -2.0 : node.threshold);
    if (!leaf) tree.child.resize(tree.child.size() + 2, -1);
    tree.child_start.push_back(static_cast<int64_t>(tree.child.size()));
    if (!leaf && split.kind == SplitKind::subset)
      tree.category.insert(tree.category.end(), split.left_codes.begin(), split.left_codes.end());
    tree.category_branch.resize(tree.category.size(), 0);
    tree.category_start.push_back(static_cast<int64_t>(tree.category.size()));
    tree.missing_branch.push_back(leaf ? -1 : missing_branch(node));
    tree.impurity.push_back(node.impurity);
    tree.score.push_back(leaf ? kUndefined : split.best.score.value);
    tree.impurity_decrease.push_back(leaf ? 0 : node.decrease);
    tree.weight.push_back(node.weight);
    tree.n_samples.push_back(node.last - node.first);
    tree.value.insert(tree.value.end(), node.value.begin(), node.value.end());
    if (!rules_.trace) return;
    tree.trace.insert(tree.trace.end(), node.trace.begin(), node.trace.end());
    tree.trace.resize(tree.kind.size() * all_.size(), kUndefined);
  }

  // Where no row was missing, a missing value follows the heavier branch.
  int32_t missing_branch(const Node& node) const {
    const Candidate& best = node.split.best;
    if (best.known_apart) return 1;
    if (best.saw_missing) return best.missing_left ? 0 : 1;
    return best.left_weight >= best.right_weight ? 0 : 1;
  }

  const Columns& columns_;
  const Target& target_;
  GrowRules rules_;
  std::vector<uint32_t> rows_, swap_;
  std::vector<char> goes_left_;
  std::vector<TallyScratch> scratch_;
  std::vector<Node> nodes_;
  std::vector<FeatureSplit> found_;
  std::vector<BinTally> bins_;  // by feature, of the node that is examined
  double root_weight_ = 0, root_loss_ = 0;
  std::vector<int64_t> all_;
  std::vector<std::vector<int64_t>> tiers_;

  // Of the node that is being examined.
  NodeRows view_;
  bool pure_ = false;
  Monotonic centred_bounds_;
  std::vector<double> packed_;
  SparseTally sparse_;
};

}  // namespace

GrownTree grow(const Columns& columns, const Target& target, const GrowRules& rules) {
  return Grower(columns, target, rules).grow();
}

RootCandidates root_candidates(const Columns& columns, const Target& target, const GrowRules& rules) {
  GrowRules each = rules;
  each.each_best = true;
  return Grower(columns, target, each).candidates();
}

}  // namespace thetatree
