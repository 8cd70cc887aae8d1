#include "worker.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "absolute.h"
#include "parallel.h"
#include "screen.h"

namespace thetatree {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
constexpr double kNothing = -std::numeric_limits<double>::infinity();
constexpr int kMostClassesCounted = 32;  // by bins: each class has counters of its own
constexpr int64_t kLeastKept = 256;      // rows of a node whose tallies are worth a subtraction

}  // namespace

Growth::Growth(const Columns& columns, const Target& target, const GrowRules& rules)
    : columns(columns), target(target), rules(rules), rows(columns.n_rows()), swap(columns.n_rows()),
      goes_left(columns.n_rows()) {
  order_rows();
  order_features();
  if (rules.search.criterion == Criterion::absolute_error) rank_of_y = ranks_of(target.y, columns.n_rows());
  for (int64_t i = 0; i < columns.n_rows(); ++i) root_weight += target.weight ? target.weight[i] : 1.0;
  this->rules.search.limits.root_weight = root_weight;
  for (int64_t f = 0; f < columns.n_features(); ++f) has_binned |= columns.column(f).store == Store::binned;
  const bool counted = columns.n_rows() >= rules.binned_from && rules.n_classes <= kMostClassesCounted &&
                       bounds_bins(rules.search.criterion) && !rules.search.random && rules.max_features <= 0;
  if (has_binned && counted) table = std::make_unique<ByteRows>(columns, rules.n_threads);
}

// Rows grouped by class, each class in the caller's order (a counting sort).
void Growth::order_rows() {
  if (!classifies()) {
    std::iota(rows.begin(), rows.end(), 0u);
    return;
  }
  std::vector<int64_t> at(rules.n_classes + 1);
  for (int64_t i = 0; i < columns.n_rows(); ++i) ++at[target.classes[i] + 1];
  poll();
  for (int k = 0; k < rules.n_classes; ++k) at[k + 1] += at[k];
  for (int64_t i = 0; i < columns.n_rows(); ++i) rows[at[target.classes[i]]++] = static_cast<uint32_t>(i);
}

void Growth::order_features() {
  all.resize(columns.n_features());
  std::iota(all.begin(), all.end(), 0);
  if (rules.tier.empty()) {
    tiers.push_back(all);
    return;
  }
  std::map<int32_t, std::vector<int64_t>> of_tier;
  for (const int64_t f : all) of_tier[rules.tier[f]].push_back(f);
  for (auto& [tier, features] : of_tier) tiers.push_back(std::move(features));
}

bool Worker::examine(std::vector<Node>& nodes, int64_t id) {
  poll();
  Node& node = nodes[id];
  if (!prepare(node)) {
    node.tally.reset();
    return false;
  }
  std::vector<FeatureSplit>& found = found_;
  found.resize(columns_.n_features());
  for (const int64_t f : searched_) found[f] = {};
  searched_.clear();
  const int64_t feature = choose(node, found);
  if (rules_.trace)
    for (const FeatureSplit& split : found)
      node.trace.push_back(split.best.valid ? split.best.score.value : kUndefined);
  if (feature < 0) {
    node.tally.reset();
    return false;
  }
  node.feature = feature;
  node.split = std::move(found[feature]);
  node.threshold = place_threshold(node, feature, node.split);
  node.decrease = std::max(0.0, node.split.best.decrease) * node.weight / growth_.root_weight;
  node.n_tried = std::max(1.0, n_features_tried(node) * n_candidates(feature, node.size()));
  if (rules_.significance <= 0 || is_significant(node)) return true;
  node.feature = -1;
  node.tally.reset();
  return false;
}

// How many splits of a feature a node of n rows may have offered, those that an order of categories stands for
// included; of numbers that stand in bins, as many as rows.
double Worker::n_candidates(int64_t feature, int64_t n) const {
  const Column& column = columns_.column(feature);
  const bool ordered = !rules_.search.ordered.empty() && rules_.search.ordered[feature];
  int64_t levels = column.kind == Kind::flag ? 2 : column.store == Store::binned ? n : int64_t{column.levels};
  levels = std::min(levels, n);
  double cuts = static_cast<double>(std::max<int64_t>(0, levels - 1));
  if (rules_.search.random && column.kind == Kind::number) cuts = std::min(1.0, cuts);
  if (column.kind == Kind::category && !ordered) cuts = partitions_of(levels);
  if (!column.has_missing) return cuts;
  return rules_.search.missing == Missing::learnt ? 2 * cuts + 1 : cuts + 1;
}

// Which features may have a candidate does not depend on the node, if it has rows enough for a split.
double Worker::n_features_tried(const Node& node) {
  const bool all = tried_.size() == growth_.all.size();
  if (all && n_splittable_ >= 0) return n_splittable_;
  double n = 0;
  for (const int64_t f : tried_) n += n_candidates(f, node.size()) > 0;
  if (all) n_splittable_ = n;
  return n;
}

// Counts both sides of the split from the rows of the node that is being examined.
bool Worker::is_significant(const Node& node) {
  mark_left(node, columns_.column(node.feature));
  const char* const goes_left = growth_.goes_left.data() + node.first;
  std::vector<Sample> sides(2);
  for (Sample& side : sides) side.classes.resize(rules_.n_classes);
  for_each_row(view_, [&](int64_t i, int k) {
    Sample& side = sides[!goes_left[i]];
    const double w = view_.weight.empty() ? 1.0 : view_.weight[i];
    side.n += 1;
    side.weight += w;
    if (growth_.classifies()) side.classes[k] += w;
    else side.mean += w * view_.y[i];
  });
  if (!growth_.classifies()) {
    for (Sample& side : sides) side.mean /= side.weight;
    for (int64_t i = 0; i < view_.n; ++i) {
      Sample& side = sides[!goes_left[i]];
      const double apart = view_.y[i] - side.mean;
      side.squares += (view_.weight.empty() ? 1.0 : view_.weight[i]) * apart * apart;
    }
  }
  return split_chance(rules_.search.criterion, sides) * node.n_tried < rules_.significance;
}

RootCandidates Worker::candidates(Node& root) {
  RootCandidates out;
  out.splits.resize(columns_.n_features());
  if (prepare(root)) search(root, growth_.all, out.splits);
  for (int64_t f = 0; f < columns_.n_features(); ++f)
    out.threshold.push_back(out.splits[f].best.valid ? place_threshold(root, f, out.splits[f]) : kUndefined);
  return out;
}

// Tallies of the node itself. False where it must stay a leaf.
bool Worker::prepare(Node& node) {
  count_rows(node);
  if (node.depth == 0) growth_.root_loss = loss(node);
  if (pure_ || must_stay(node) || node.weight < 2 * rules_.search.limits.min_weight) return false;
  const double root_loss = growth_.root_loss;
  if (rules_.worth.p1 > 0 && compare_scores(loss(node), rules_.worth.p1 * root_loss, root_loss) < 0) return false;
  return !(rules_.min_impurity_split > 0 && node.impurity <= rules_.min_impurity_split);
}

// Whether its depth or its number of rows makes the node a leaf.
bool Worker::must_stay(const Node& node) const {
  if (rules_.max_depth >= 0 && node.depth >= rules_.max_depth) return true;
  return node.size() < rules_.min_samples_split || static_cast<double>(node.size()) < 2 * rules_.search.limits.min_leaf;
}

void Worker::count_rows(Node& node) {
  NodeRows& view = view_;
  view.measure = !growth_.classifies() ? Measure::sums : target_.weight ? Measure::weights : Measure::counts;
  view.rows = growth_.rows.data() + node.first;
  view.n = node.last - node.first;
  view.n_classes = rules_.n_classes;
  if (target_.weight) {
    view.weight.resize(view.n);
    for (int64_t i = 0; i < view.n; ++i) view.weight[i] = target_.weight[view.rows[i]];
  }
  if (growth_.classifies()) count_classes(node);
  else sum_target(node);
  node.centre = growth_.classifies() ? 0 : view.centre;
  if (node.bounds.bounded) clip_value(node);
}

void Worker::count_classes(Node& node) {
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
  node.sample = {view.total[0], node.weight, {view.total.begin() + 1, view.total.end()}, 0, 0};
}

// Sums are taken of y less the node's own mean, so that an offset of y costs no digits.
void Worker::sum_target(Node& node) {
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
  node.weight = weight;
  const double mean = pure_ ? lowest : shift + sum / weight;
  const bool median = criterion == Criterion::absolute_error;
  const double centre = median ? weighted_median(view.y, view.weight) : mean;
  node.value.assign(1, centre);
  view.centre = centre;
  view.total.assign(3, 0.0);
  double loss = 0, squares = 0;
  for (int64_t i = 0; i < view.n; ++i) {
    const double w = view.weight.empty() ? 1.0 : view.weight[i];
    view.y[i] -= view.centre;
    view.total[2] += w * view.y[i];
    squares += w * view.y[i] * view.y[i];
    if (median) loss += w * std::fabs(view.y[i]);
    if (criterion == Criterion::poisson) loss += w * mean * poisson_deviance(view.y[i] / mean);
  }
  view.total[0] = static_cast<double>(view.n);
  view.total[1] = weight;
  squares -= view.total[2] * view.total[2] / weight;
  if (criterion == Criterion::squared_error) loss = squares;
  node.sample = {view.total[0], weight, {}, mean, std::fmax(0.0, squares)};
  node.impurity = pure_ ? 0 : std::fmax(0.0, loss / weight);
}

void Worker::clip_value(Node& node) {
  double& value = growth_.classifies() ? node.value[1] : node.value[0];
  value = std::clamp(value, node.bounds.lower, node.bounds.upper);
  if (growth_.classifies()) node.value[0] = 1 - value;
  centred_bounds_ = node.bounds;
  centred_bounds_.lower -= node.centre;
  centred_bounds_.upper -= node.centre;
}

// The first tier of which a feature can split the node. Where the trace is kept, all are looked at.
int64_t Worker::choose(Node& node, std::vector<FeatureSplit>& found) {
  constexpr double kAny = -std::numeric_limits<double>::infinity();
  const bool forced = node.depth == 0 && rules_.force >= 0;
  const std::vector<int64_t> only{rules_.force};
  tried_.clear();
  const bool at_once = rules_.trace && rules_.max_features <= 0;
  if (at_once) search(node, growth_.all, found);
  else if (forced) search(node, only, found);
  if (forced) return best_of(node, only, found, kAny);
  const double least =
      rules_.worth.least_score(rules_.search.criterion, node.impurity, loss(node), growth_.root_loss);
  for (const auto& tier : growth_.tiers) {
    const int64_t best = at_once ? best_of(node, tier, found, least) : choose_among(node, tier, found, least);
    if (best >= 0) return best;
  }
  return -1;
}

// Of all these features, or of max_features drawn at random and more until one of them can split.
int64_t Worker::choose_among(Node& node, const std::vector<int64_t>& features, std::vector<FeatureSplit>& found,
                     double least) {
  const int64_t n = static_cast<int64_t>(features.size());
  std::vector<int64_t> order = features;
  const int64_t most = rules_.max_features > 0 ? std::min(n, rules_.max_features) : n;
  if (most == n) {
    search(node, order, found);
    return best_of(node, hopeful_, found, least);
  }
  Random random(child_key(node.key, 0));
  for (int64_t i = n - 1; i > 0; --i)
    std::swap(order[i], order[random.below(static_cast<uint64_t>(i) + 1)]);
  for (int64_t begin = 0; begin < n; begin += begin ? 1 : most) {
    const int64_t end = begin ? begin + 1 : most;
    std::vector<int64_t> drawn(order.begin() + begin, order.begin() + std::min(end, n));
    std::sort(drawn.begin(), drawn.end());
    search(node, drawn, found);
    const int64_t best = best_of(node, hopeful_, found, least);
    if (best >= 0) return best;
  }
  return -1;
}

// Tallies that all features share; whole counts may have come from the parent.
void Worker::tally(Node& node, int n_threads) {
  if (node.tally) return;
  node.tally = std::make_unique<NodeTally>();
  if (columns_.words_per_row() > 0) tally_packed(columns_, view_, n_threads, node.tally->packed);
  if (counts_ones(node)) tally_ones(columns_, view_, n_threads, node.tally->ones);
  if (counts_bins(node)) tally_bytes(*growth_.table, view_, n_threads, node.tally->bytes);
}

// Lists cost a sort, which pays where there are levels enough below; else bins are counted, if there are rows enough.
bool Worker::keeps_lists(const Node& node) const {
  constexpr int64_t kLevels = 3;
  if (!in_order_ || !growth_.has_binned || rules_.max_features > 0 || node.size() > rules_.listed_to) return false;
  return lists_.covers(node.first, node.last) || rules_.max_depth < 0 || rules_.max_depth - node.depth >= kLevels ||
         !growth_.table || node.size() < rules_.binned_from;
}

bool Worker::counts_bins(const Node& node) const {
  return growth_.table && node.size() >= rules_.binned_from && !keeps_lists(node);
}

// Sparse columns are all counted where there are as many entries as columns; else only those that the rows touch.
bool Worker::counts_ones(const Node& node) const {
  const SparseRows& sparse = columns_.sparse();
  if (sparse.n_columns() == 0 || rules_.search.criterion == Criterion::absolute_error) return false;
  const double entries_per_row = static_cast<double>(sparse.n_entries()) / static_cast<double>(columns_.n_rows());
  return static_cast<double>(node.size()) * entries_per_row >= static_cast<double>(sparse.n_columns());
}

// In ascending order, as the features are.
void Worker::find_hopeful(const NodeView& view, const std::vector<int64_t>& features) {
  const SparseRows& sparse = columns_.sparse();
  hopeful_.clear();
  if (sparse.n_columns() == 0) {
    hopeful_ = features;
    return;
  }
  const int64_t first = columns_.sparse_feature().front(), n_sparse = sparse.n_columns();
  const double n = static_cast<double>(view_.n);
  const auto counted = [&](int64_t slot) { return view.ones && sparse.two_valued[slot]; };
  const auto varies = [&](int64_t slot) {
    const double ones = (*view.ones)[slot * view_.stride()];
    return 0 < ones && ones < n;
  };
  if (features.size() < growth_.all.size()) {
    for (const int64_t f : features) {
      const int64_t slot = f - first;
      if (slot < 0 || slot >= n_sparse ||
          (counted(slot) ? varies(slot)
                         : std::binary_search(sparse_.touched.begin(), sparse_.touched.end(), slot)))
        hopeful_.push_back(f);
    }
    return;
  }
  for (int64_t f = 0; f < first; ++f) hopeful_.push_back(f);
  if (view.ones)
    for (int64_t slot = 0; slot < n_sparse; ++slot)
      if (sparse.two_valued[slot] && varies(slot)) hopeful_.push_back(first + slot);
  const auto middle = static_cast<std::ptrdiff_t>(hopeful_.size());
  for (const int32_t slot : sparse_.touched) hopeful_.push_back(first + slot);
  std::inplace_merge(hopeful_.begin() + first, hopeful_.begin() + middle, hopeful_.end());
  for (int64_t f = first + n_sparse; f < columns_.n_features(); ++f) hopeful_.push_back(f);
}

void Worker::search(Node& node, const std::vector<int64_t>& features, std::vector<FeatureSplit>& found) {
  tried_.insert(tried_.end(), features.begin(), features.end());
  NodeView view;
  view.columns = &columns_;
  view.rows = &view_;
  view.totals = {growth_.classifies() ? rules_.n_classes : 2, view_.total.data() + 1, node.weight, node.impurity,
                 node.centre};
  if (node.bounds.bounded) view.bounds = centred_bounds_;
  view.key = node.key;
  const int n_threads = threads_for(view_.n * static_cast<int64_t>(features.size()));
  tally(node, n_threads);
  view.packed = &node.tally->packed;
  if (!node.tally->bytes.empty()) {
    view.table = growth_.table.get();
    view.bytes = &node.tally->bytes;
  }
  if (columns_.sparse().n_columns() > 0) {
    if (!node.tally->ones.empty()) view.ones = &node.tally->ones;
    tally_sparse(columns_, view_, view.ones != nullptr, sparse_);
    view.sparse = &sparse_;
  }
  find_hopeful(view, features);
  searched_.insert(searched_.end(), hopeful_.begin(), hopeful_.end());
  if (keeps_lists(node)) {
    if (lists_.covers(node.first, node.last)) lists_.turn_to(node.first, view_.n);
    else lists_.build(columns_, view_, node.first, scratch_[0]);
    view.lists = &lists_;
  }
  std::optional<MedianPlaces> medians;
  if (rules_.search.criterion == Criterion::absolute_error) {
    view.medians = &medians.emplace(view_, growth_.rank_of_y, scratch_[0].sorted_swap);
  }
  std::atomic<double> floor = floor_of(view, features, n_threads);
  // What one feature has reached the others need not look much below; so much that which of them ends first is no matter.
  const bool raises = !rules_.each_best && has_one_score(rules_.search.criterion);
  const double slack = kScreenSlack * tie_scale(node);
  std::vector<int64_t> order = hopeful_;
  if (view.boundaries && raises)  // those that have most to search come first
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return boundaries_[a].score.value > boundaries_[b].score.value;
    });
  parallel_for(n_threads, static_cast<int64_t>(order.size()), [&](int64_t i, int thread) {
    const int64_t feature = order[i];
    const Column& column = columns_.column(feature);
    int64_t sparse_at = -1;
    if (column.store == Store::sparse)
      sparse_at = std::lower_bound(sparse_.touched.begin(), sparse_.touched.end(), column.slot) -
                  sparse_.touched.begin();
    FeatureSplit& split = found[feature];
    split = search_feature(view, rules_.search, feature, direction_of(feature), sparse_at, scratch_[thread], floor);
    if (!raises || !split.best.valid) return;
    const double reached = split.best.score.value - slack;
    for (double now = floor; now < reached && !floor.compare_exchange_weak(now, reached);) {
    }
  });
}

// What one feature reaches between its bins no other need look below, unless each one's own best is wanted.
double Worker::floor_of(NodeView& view, const std::vector<int64_t>& features, int n_threads) {
  if (!view.bytes || rules_.each_best) return kNothing;
  boundaries_.resize(columns_.n_features());
  parallel_for(n_threads, static_cast<int64_t>(features.size()), [&](int64_t i, int thread) {
    const int64_t feature = features[i];
    boundaries_[feature] = search_boundaries(view, rules_.search, feature, direction_of(feature), scratch_[thread]);
  });
  view.boundaries = &boundaries_;
  double floor = kNothing;
  for (const int64_t feature : features)
    if (boundaries_[feature].valid) floor = std::max(floor, boundaries_[feature].score.value);
  return floor;
}

int64_t Worker::best_of(const Node& node, const std::vector<int64_t>& features,
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

double Worker::tie_scale(const Node& node) const {
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

// Half-way between the node's values on either side of the cut.
double Worker::place_threshold(const Node& node, int64_t feature, const FeatureSplit& split) const {
  if (split.kind == SplitKind::presence) return 0.5;
  if (split.kind != SplitKind::threshold) return kUndefined;
  if (split.placed) return split.threshold;
  const Column& column = columns_.column(feature);
  if (column.store == Store::packed) return 0.5;
  if (column.store == Store::sparse && columns_.sparse().two_valued[column.slot])
    return threshold_between(columns_.value(feature, 0, -1), columns_.value(feature, 1, -1));
  const bool binned = column.store == Store::binned;
  uint32_t low = 0, high = column.levels;
  double below = kUndefined, above = kUndefined;
  for (int64_t i = node.first; i < node.last; ++i) {
    const int64_t row = growth_.rows[i];
    const uint32_t code = columns_.code(feature, row);
    if (code >= column.levels) continue;
    if (code <= split.best.code) {
      if (std::isnan(below) || code > low) below = columns_.value(feature, low = code, row);
      else if (binned && code == low) below = std::max(below, columns_.value(feature, code, row));
    } else if (std::isnan(above) || code < high) {
      above = columns_.value(feature, high = code, row);
    } else if (binned && code == high) {
      above = std::min(above, columns_.value(feature, code, row));
    }
  }
  return threshold_between(below, above);
}

void Worker::divide(std::vector<Node>& nodes, int64_t id) {
  Node& node = nodes[id];
  const int64_t middle = partition(node);
  Node left, right;
  left.first = node.first;
  left.last = right.first = middle;
  right.last = node.last;
  left.depth = right.depth = node.depth + 1;
  left.key = child_key(node.key, 0);
  right.key = child_key(node.key, 1);
  left.bounds = right.bounds = node.bounds;
  if (node.bounds.bounded) tighten(node, left.bounds, right.bounds);
  pass_on(node, left, right);
  node.left = static_cast<int64_t>(nodes.size());
  node.right = node.left + 1;
  node.split.left_codes.shrink_to_fit();
  nodes.push_back(std::move(left));
  nodes.push_back(std::move(right));
}

// The smaller child is counted, and what is left of the parent's counts is the larger one's.
void Worker::pass_on(Node& node, Node& left, Node& right) {
  const std::unique_ptr<NodeTally> whole = std::move(node.tally);
  Node& small = left.size() <= right.size() ? left : right;
  Node& large = left.size() <= right.size() ? right : left;
  const bool counts = growth_.classifies() && !target_.weight;
  if (!whole || !counts || large.size() < kLeastKept || must_stay(large)) return;
  count_rows(large);
  if (pure_) return;
  if (!counts_bins(large)) whole->bytes = {};
  const int n_threads = threads_for(small.size() * columns_.n_features());
  count_rows(small);
  auto part = std::make_unique<NodeTally>();
  if (!counts_ones(large)) whole->ones = {};
  if (!whole->packed.empty()) tally_packed(columns_, view_, n_threads, part->packed);
  if (!whole->bytes.empty()) tally_bytes(*growth_.table, view_, n_threads, part->bytes);
  if (!whole->ones.empty()) tally_ones(columns_, view_, n_threads, part->ones);
  for (size_t i = 0; i < whole->packed.size(); ++i) whole->packed[i] -= part->packed[i];
  for (size_t i = 0; i < whole->ones.size(); ++i) whole->ones[i] -= part->ones[i];
  subtract(part->bytes, whole->bytes);
  large.tally = std::make_unique<NodeTally>(std::move(*whole));
  if (pure_ || must_stay(small)) return;
  if (!counts_bins(small)) part->bytes = {};
  if (!counts_ones(small)) part->ones = {};
  small.tally = std::move(part);
}

void Worker::tighten(const Node& node, Monotonic& left, Monotonic& right) const {
  const Candidate& best = node.split.best;
  const int direction = (columns_.column(node.feature).kind == Kind::flag ? -1 : 1) *
                        rules_.monotonic[node.feature];
  if (direction == 0 || best.known_apart) return;
  const double middle = best.left_value / 2 + best.right_value / 2 + node.centre;
  (direction > 0 ? left.upper : left.lower) = middle;
  (direction > 0 ? right.lower : right.upper) = middle;
}

// Stable, so that classes stay grouped and rows in order. Returns where the right side begins.
int64_t Worker::partition(const Node& node) {
  const Column& column = columns_.column(node.feature);
  mark_left(node, column);
  uint32_t *const rows = growth_.rows.data(), *const swap = growth_.swap.data();
  const char* const goes_left = growth_.goes_left.data();
  if (keeps_lists(node) && lists_.covers(node.first, node.last) && node.depth + 1 != rules_.max_depth)
    lists_.divide(goes_left + node.first);
  int64_t left = node.first, right = node.first;
  for (int64_t i = node.first; i < node.last; ++i) {
    const uint32_t row = rows[i];
    const bool goes = goes_left[i];
    rows[left] = row;
    swap[right] = row;
    left += goes;
    right += !goes;
  }
  std::copy(swap + node.first, swap + right, rows + left);
  return left;
}

void Worker::mark_left(const Node& node, const Column& column) {
  const FeatureSplit& split = node.split;
  const uint32_t missing = column.levels;
  if (split.kind == SplitKind::threshold && column.store == Store::binned) {
    mark_bins(node, column);
  } else if (split.kind == SplitKind::subset) {
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

// By bin; only in the threshold's own bin are the values looked at.
void Worker::mark_bins(const Node& node, const Column& column) {
  const uint32_t missing = column.levels, own = static_cast<uint32_t>(column.bin_of(node.threshold));
  const bool missing_left = node.split.best.missing_left;
  const double threshold = node.threshold;
  const uint8_t* bins = column.codes8.data();
  const uint32_t* rows = growth_.rows.data();
  char* goes_left = growth_.goes_left.data();
  parallel_chunks(threads_for(node.size()), node.size(), 1 << 14, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = node.first + begin; i < node.first + end; ++i) {
      const uint32_t bin = bins[rows[i]];
      goes_left[i] = bin < own || (bin == missing && missing_left);
      if (bin == own && bin != missing) goes_left[i] = column.raw.number(rows[i]) <= threshold;
    }
  });
}

template <class GoesLeft>
void Worker::mark(const Node& node, const Column& column, GoesLeft goes_left) {
  const int64_t feature = node.feature;
  const auto fill = [&](auto code_of) {
    const uint32_t* rows = growth_.rows.data();
    char* out = growth_.goes_left.data();
    parallel_chunks(threads_for(node.size()), node.size(), 1 << 14, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = node.first + begin; i < node.first + end; ++i) out[i] = goes_left(code_of(rows[i]));
    });
  };
  switch (column.store) {
    case Store::u8: return fill([codes = column.codes8.data()](uint32_t row) -> uint32_t { return codes[row]; });
    case Store::u16: return fill([codes = column.codes16.data()](uint32_t row) -> uint32_t { return codes[row]; });
    case Store::u32: return fill([codes = column.codes32.data()](uint32_t row) { return codes[row]; });
    case Store::packed: {
      const uint64_t* words = columns_.words() + (column.slot >> 6);
      return fill([words, width = columns_.words_per_row(), shift = column.slot & 63](uint32_t row) -> uint32_t {
        return words[row * width] >> shift & 1;
      });
    }
    default: return fill([&](uint32_t row) { return columns_.code(feature, row); });
  }
}

}  // namespace thetatree
