#include "grow_sketch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <queue>

#include "ordering.h"
#include "parallel.h"
#include "special.h"

namespace thetatree {
namespace {

// A test on a feature: the cells that go left, up to a cut or listed; the others, so far as the node allows
// them, go right.
struct Test {
  int32_t feature = -1;
  int32_t cut = -1;
  std::vector<char> left;  // without a cut
};

struct Side {
  std::vector<Count> counts;  // by class
  double n = 0, weight = 0, held = 0;
  std::vector<double> tally;  // weights by class
  void clear() {
    counts.clear();
    tally.clear();
    n = weight = held = 0;
  }
};

struct SketchSplit {
  bool valid = false;
  int32_t feature = -1;
  std::vector<char> left_cells;
  bool missing_left = true;
  Score score;
  double decrease = 0;
  Side left, right;
};

struct SketchNode {
  Constraints constraints;
  std::vector<Count> counts;
  std::vector<double> theta;  // by class
  std::vector<double> tally;
  double n = 0, weight = 0, impurity = 0, held = 0;
  int64_t depth = 0;
  uint64_t key = 0;
  std::vector<std::unique_ptr<ClassNode>> classes;  // freed once the children stand
  SketchSplit split;
  double decrease = 0;
  int64_t left = -1, right = -1;
};

class SketchGrower {
 public:
  SketchGrower(const SketchBuffer& sketches, const std::vector<ClassSource>& classes,
               const std::vector<double>& exact_n, const std::vector<SketchFeature>& features,
               const SketchRules& rules)
      : features_(features), rules_(rules), n_classes_(static_cast<int>(classes.size())) {
    for (const SketchFeature& feature : features_) all_cells_.emplace_back(feature.n_cells(), 1);
    indexes_.resize(classes.size());
    parallel_for(rules.n_threads, n_classes_, [&](int64_t c, int) {
      indexes_[c] = std::make_unique<ClassIndex>(sketches, classes[c], features_);
    });
    SketchNode root;
    root.key = mix(rules.seed);
    for (int c = 0; c < n_classes_; ++c) {
      root.classes.push_back(std::make_unique<ClassNode>(*indexes_[c], root.constraints));
      const Estimate own = root.classes[c]->own();
      root.held += own.held;
      const bool exact = exact_n[c] >= 0;
      root.counts.push_back(exact ? Count{exact_n[c], 0} : Count{own.count(), own.variance()});
      root.theta.push_back(exact ? 1.0 : own.tau);
    }
    weigh(root);
    root_weight_ = root.weight;
    nodes_.push_back(std::move(root));
  }

  SketchTree grow() {
    if (rules_.max_leaf_nodes > 0) grow_best_first();
    else grow_depth_first();
    return in_preorder();
  }

 private:
  void weigh(SketchNode& node) const {
    node.tally.resize(n_classes_);
    node.n = node.weight = 0;
    for (int c = 0; c < n_classes_; ++c) {
      node.tally[c] = node.counts[c].n * rules_.class_weight[c];
      node.n += node.counts[c].n;
      node.weight += node.tally[c];
    }
    node.impurity = class_impurity(impurity_of(rules_.criterion), node.tally.data(), n_classes_, node.weight);
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
    using Entry = std::pair<double, int64_t>;
    std::priority_queue<Entry> open;
    if (examine(0)) open.push({nodes_[0].decrease, 0});
    for (int64_t leaves = 1; leaves < rules_.max_leaf_nodes && !open.empty(); ++leaves) {
      const int64_t id = -open.top().second;
      open.pop();
      divide(id);
      for (const int64_t child : {nodes_[id].left, nodes_[id].right})
        if (examine(child)) open.push({nodes_[child].decrease, -child});
    }
    for (; !open.empty(); open.pop()) nodes_[-open.top().second].split.valid = false;
  }

  bool may_split(const SketchNode& node) const {
    int present = 0;
    for (const double weight : node.tally) present += weight > 0;
    if (present <= 1) return false;
    if (rules_.max_depth >= 0 && node.depth >= rules_.max_depth) return false;
    if (node.n < rules_.min_samples_split || node.n < 2 * rules_.min_samples_leaf) return false;
    if (node.weight < 2 * rules_.min_weight_leaf) return false;
    return !(rules_.min_impurity_split > 0 && node.impurity <= rules_.min_impurity_split);
  }

  bool examine(int64_t id) {
    SketchNode& node = nodes_[id];
    if (!may_split(node)) return false;
    n_candidates_ = 0;
    const std::vector<std::vector<Test>> tests = all_tests(node);
    for (const auto& of_feature : tests) n_candidates_ += static_cast<double>(of_feature.size());
    const std::vector<int32_t> order = drawn_features(node);
    const int64_t n = static_cast<int64_t>(features_.size());
    const int64_t most = rules_.max_features > 0 ? std::min(n, rules_.max_features) : n;
    for (int64_t begin = 0; begin < n && !node.split.valid; begin += begin ? 1 : most) {
      std::vector<int32_t> features(order.begin() + begin, order.begin() + std::min(n, begin ? begin + 1 : most));
      std::sort(features.begin(), features.end());
      for (const int32_t f : features) search(node, tests[f]);
    }
    if (!node.split.valid) return false;
    node.decrease = std::max(0.0, node.split.decrease) * node.weight / root_weight_;
    return true;
  }

  std::vector<int32_t> drawn_features(const SketchNode& node) const {
    std::vector<int32_t> order(features_.size());
    std::iota(order.begin(), order.end(), 0);
    if (rules_.max_features <= 0) return order;
    Random random(child_key(node.key, 0));
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    return order;
  }

  const std::vector<char>& allowed_cells(const SketchNode& node, int32_t feature) const {
    for (const Constraint& constraint : node.constraints)
      if (constraint.feature == feature) return constraint.allowed;
    return all_cells_[feature];
  }

  std::vector<std::vector<Test>> all_tests(const SketchNode& node) const {
    std::vector<std::vector<Test>> tests(features_.size());
    for (int32_t f = 0; f < static_cast<int32_t>(features_.size()); ++f) {
      const std::vector<char>& allowed = allowed_cells(node, f);
      if (features_[f].kind == CellKind::category) tests[f] = category_tests(node, f, allowed);
      else tests[f] = cut_tests(f, allowed);
    }
    return tests;
  }

  // Every place between two cells that are still allowed: for a flag, present against absent.
  std::vector<Test> cut_tests(int32_t feature, const std::vector<char>& allowed) const {
    std::vector<Test> tests;
    const int32_t n = features_[feature].n_units;
    for (int32_t cut = 0; cut < n; ++cut)
      if (allowed[cut] && allowed[cut + 1]) tests.push_back({feature, cut, {}});
    return tests;
  }

  // The groupings that rows would be tried with, on the estimated counts of each category.
  std::vector<Test> category_tests(const SketchNode& node, int32_t feature, const std::vector<char>& allowed) const {
    const SketchFeature& f = features_[feature];
    Levels levels;
    levels.clear(n_classes_ + 1);
    for (int32_t cell = 0; cell <= f.n_units; ++cell) {
      if (!allowed[cell]) continue;
      std::vector<char> only(allowed.size(), 0);
      only[cell] = 1;
      std::vector<double> tally(n_classes_ + 1, 0.0);
      for (int c = 0; c < n_classes_; ++c) {
        if (cell == f.n_units && indexes_[c]->none_is_empty(feature)) continue;
        const double count = node.classes[c]->among(feature, only).count();
        tally[0] += count;
        tally[1 + c] = count * rules_.class_weight[c];
      }
      if (tally[0] <= 0) continue;
      levels.code.push_back(static_cast<uint32_t>(cell));
      levels.tally.insert(levels.tally.end(), tally.begin(), tally.end());
    }
    return groupings(node, feature, levels, allowed);
  }

  std::vector<Test> groupings(const SketchNode& node, int32_t feature, const Levels& levels,
                              const std::vector<char>& allowed) const {
    std::vector<Test> tests;
    const int64_t n = levels.size();
    const int32_t none = features_[feature].n_units;
    const auto add = [&](const std::vector<char>& left_levels) {
      Test test{feature, -1, std::vector<char>(allowed.size(), 0)};
      // A tree lists the categories that go left, so "none of them" has to go right.
      bool none_left = false;
      for (int64_t i = 0; i < n; ++i)
        none_left = none_left || (left_levels[i] && levels.code[i] == static_cast<uint32_t>(none));
      for (int64_t i = 0; i < n; ++i) test.left[levels.code[i]] = (left_levels[i] != 0) != none_left;
      tests.push_back(std::move(test));
    };
    if (n < 2) return tests;
    if (n_classes_ > 2 && n <= rules_.max_categories) {
      for (uint64_t mask = 0; mask + 1 < 1ULL << (n - 1); ++mask) {
        std::vector<char> left(n, 0);
        left[0] = 1;
        for (int64_t i = 1; i < n; ++i) left[i] = mask >> (i - 1) & 1;
        add(left);
      }
      return tests;
    }
    const NodeTotals totals{n_classes_, node.tally.data(), node.weight, node.impurity};
    for (int k = n_classes_ == 2 ? 1 : 0; k <= (n_classes_ == 2 ? 1 : n_classes_); ++k) {
      const auto order = k < n_classes_ ? order_by_share(levels, k) : order_by_component(levels, totals);
      std::vector<char> left(n, 0);
      for (int64_t i = 0; i + 1 < n; ++i) {
        left[order[i]] = 1;
        std::vector<char> side = left;
        if (n_classes_ > 2 && !left[0])
          for (char& in : side) in = !in;
        add(side);
      }
    }
    return tests;
  }

  void search(SketchNode& node, const std::vector<Test>& tests) const {
    SketchSplit best;
    SketchSplit& candidate = work_.candidate;
    for (const Test& test : tests) {
      resolve(node, test, best.valid ? best : node.split);
      if (candidate.valid) std::swap(best, candidate);
    }
    if (best.valid) node.split = std::move(best);
  }

  double scale(const SketchNode& node) const {
    switch (rules_.criterion) {
      case Criterion::gini:
      case Criterion::entropy: return node.impurity;
      case Criterion::chi_square: return node.weight;
      default: return 1;
    }
  }

  // Both sides counted and conserved; the missing keys join the heavier side first. The candidate is valid if
  // it is allowed and better than the best so far.
  void resolve(const SketchNode& node, const Test& test, const SketchSplit& best) const {
    SketchSplit& split = work_.candidate;
    const int32_t missing = features_[test.feature].missing_cell();
    const std::vector<char>& allowed = allowed_cells(node, test.feature);
    std::vector<char>&left = split.left_cells, &right = work_.right_cells;
    left.assign(allowed.size(), 0);
    right.assign(allowed.size(), 0);
    for (int32_t cell = 0; cell < missing; ++cell) {
      left[cell] = test.cut >= 0 ? allowed[cell] && cell <= test.cut : test.left[cell];
      right[cell] = allowed[cell] && !left[cell];
    }
    split.valid = false;
    split.feature = test.feature;
    estimate(node, test.feature, left, work_.left);
    estimate(node, test.feature, right, work_.right);
    const bool gaps = allowed[missing] && any_known(test.feature);
    split.missing_left = weight_of(work_.left) >= weight_of(work_.right);
    if (allowed[missing]) (split.missing_left ? left : right)[missing] = 1;
    if (gaps) estimate(node, test.feature, split.missing_left ? left : right,
                       split.missing_left ? work_.left : work_.right);
    split.left.clear();
    split.right.clear();
    for (int c = 0; c < n_classes_; ++c) {
      const Estimate &l = work_.left[c], &r = work_.right[c];
      const Parts parts = conserve(node.counts[c], {l.count(), l.variance()}, {r.count(), r.variance()});
      if (!parts.possible) return;
      add(split.left, parts.left, l.held, c);
      add(split.right, parts.right, r.held, c);
    }
    if (!gaps) split.missing_left = split.left.weight >= split.right.weight;
    judge(node, best, split);
  }

  bool any_known(int32_t feature) const {
    return std::any_of(indexes_.begin(), indexes_.end(), [&](const auto& index) { return index->has_known(feature); });
  }

  void estimate(const SketchNode& node, int32_t feature, const std::vector<char>& cells,
                std::vector<Estimate>& out) const {
    out.clear();
    for (int c = 0; c < n_classes_; ++c) out.push_back(node.classes[c]->among(feature, cells));
  }

  double weight_of(const std::vector<Estimate>& estimates) const {
    double sum = 0;
    for (int c = 0; c < n_classes_; ++c) sum += estimates[c].count() * rules_.class_weight[c];
    return sum;
  }

  void add(Side& side, const Count& count, double held, int c) const {
    side.counts.push_back(count);
    side.n += count.n;
    side.tally.push_back(count.n * rules_.class_weight[c]);
    side.weight += side.tally.back();
    side.held += held;
  }

  // Limits, score and gate; what fails any of them is no candidate.
  void judge(const SketchNode& node, const SketchSplit& best, SketchSplit& split) const {
    const Side &left = split.left, &right = split.right;
    if (left.n <= 0 || right.n <= 0 || left.weight <= 0 || right.weight <= 0) return;
    if (left.n < rules_.min_samples_leaf || right.n < rules_.min_samples_leaf) return;
    if (left.weight < rules_.min_weight_leaf || right.weight < rules_.min_weight_leaf) return;
    const NodeTotals totals{n_classes_, node.tally.data(), node.weight, node.impurity};
    with_class_criterion(rules_.criterion, totals, [&](const auto& crit) {
      split.score = crit.score(left.tally.data(), left.weight, right.tally.data(), right.weight);
      split.decrease =
          crit.decrease(split.score, left.tally.data(), left.weight, right.tally.data(), right.weight);
    });
    if (best.valid && !beats(split.score, best.score, scale(node))) return;
    if (rules_.min_impurity_decrease > 0 && split.decrease * node.weight / root_weight_ +
            std::numeric_limits<double>::epsilon() < rules_.min_impurity_decrease)
      return;
    if (rules_.positive_gain && !(split.decrease > kTie * node.impurity)) return;
    const double loss = node.weight * node.impurity, root_loss = root_weight_ * nodes_[0].impurity;
    const double least = rules_.worth.least_score(rules_.criterion, node.impurity, loss, root_loss);
    if (compare_scores(split.score.value, least, scale(node)) < 0) return;
    const auto all_known = [](const std::vector<Estimate>& side) {
      return std::all_of(side.begin(), side.end(), [](const Estimate& e) { return e.tau >= 1; });
    };
    const bool exact = all_known(work_.left) && all_known(work_.right);
    if (!exact && (left.held < rules_.min_held || right.held < rules_.min_held)) return;
    split.valid = exact || rules_.significance <= 0 || beats_noise(node, split);
  }

  // How likely noise alone is to gain as much. With x_c the error of the left share in class c, of variance U_c
  // (times the pooled variance), the gain is a quadratic form, Σ w_c (x_c − Σ π_d x_d)²: w = π/2 for information
  // in nats, π² for gini. It has the law of Σ λ_i χ²_1, taken for a χ² of the same first three cumulants; with
  // two classes, or equal λ, that is exact.
  bool beats_noise(const SketchNode& node, const SketchSplit& split) const {
    const std::vector<Estimate>&l = work_.left, &r = work_.right;
    const double p = split.left.n / node.n, q = 1 - p;
    const bool gini = rules_.criterion == Criterion::gini;
    // The form's matrix, seen from standard normal x, is diag(d) − a bᵀ − b aᵀ + s b bᵀ.
    double s = 0, d1 = 0, d2 = 0, d3 = 0;
    double aa[3] = {}, ab[3] = {}, bb[3] = {};  // aᵀ diag(d)^i b and so on
    for (int c = 0; c < n_classes_; ++c) {
      if (node.counts[c].n <= 0) continue;
      const double share = node.counts[c].n / node.n;
      const double deviation = std::sqrt((q / l[c].tau + p / r[c].tau) / node.counts[c].n);
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
    if (!(k1 > 0 && k2 > 0 && k3 > 0)) return true;
    const double freedom = k2 * k2 * k2 / (k3 * k3);
    const double x = freedom + (gain_of(node, split, gini) - k1) / std::sqrt(k2) * std::sqrt(freedom);
    return chi_square_tail(x, freedom) < rules_.significance / std::max(1.0, n_candidates_);
  }

  // Unweighted, since noise is of keys: the gini decrease, or information in nats.
  double gain_of(const SketchNode& node, const SketchSplit& split, bool gini) const {
    const Impurity kind = gini ? Impurity::gini : Impurity::entropy;
    const auto impurity = [&](const std::vector<Count>& counts, double n) {
      work_.plain.clear();
      for (const Count& count : counts) work_.plain.push_back(count.n);
      return n * class_impurity(kind, work_.plain.data(), n_classes_, n);
    };
    const double gain = impurity(node.counts, node.n) - impurity(split.left.counts, split.left.n) -
                        impurity(split.right.counts, split.right.n);
    return gain / node.n * (gini ? 1.0 : 0.6931471805599453);
  }

  // The root's counts are the sketches' own; below it keys are looked at one by one, and only those that
  // its split can decide.
  void list_keys(SketchNode& root) {
    const int32_t feature = root.split.feature;
    parallel_for(rules_.n_threads, n_classes_, [&](int64_t c, int) {
      if (!indexes_[c]->flat()) return;
      indexes_[c]->list(indexes_[c]->feature_theta(feature));
      root.classes[c] = std::make_unique<ClassNode>(*indexes_[c], Constraints{});
    });
  }

  void divide(int64_t id) {
    if (id == 0) list_keys(nodes_[0]);
    SketchNode& node = nodes_[id];
    std::array<SketchNode, 2> children;
    int64_t n_keys = 0;
    for (const auto& own : node.classes) n_keys += static_cast<int64_t>(own->keys().size());
    for (const int right : {0, 1}) {
      SketchNode& child = children[right];
      child.depth = node.depth + 1;
      child.key = child_key(node.key, right);
      child.constraints = narrowed(node, right == 0);
      child.counts = right ? node.split.right.counts : node.split.left.counts;
      child.classes.resize(n_classes_);
    }
    constexpr int64_t kWorthThreads = 20'000;  // keys; below, starting a thread takes longer than the work
    parallel_for(n_keys < kWorthThreads ? 1 : rules_.n_threads, 2 * n_classes_, [&](int64_t task, int) {
      SketchNode& child = children[task % 2];
      auto& own = child.classes[task / 2];
      own = std::make_unique<ClassNode>(*node.classes[task / 2], child.constraints);
      if (rules_.max_depth < 0 || child.depth < rules_.max_depth) own->count();
    });
    node.classes.clear();
    node.left = static_cast<int64_t>(nodes_.size());
    node.right = node.left + 1;
    for (SketchNode& child : children) {
      for (const auto& own : child.classes) {
        const Estimate estimate = own->own();
        child.held += estimate.held;
        child.theta.push_back(estimate.tau);
      }
      weigh(child);
      nodes_.push_back(std::move(child));
    }
  }

  Constraints narrowed(const SketchNode& node, bool left) const {
    const SketchSplit& split = node.split;
    std::vector<char> allowed = allowed_cells(node, split.feature);
    for (size_t cell = 0; cell < allowed.size(); ++cell)
      allowed[cell] = allowed[cell] && (left ? split.left_cells[cell] : !split.left_cells[cell]);
    Constraints out;
    for (const Constraint& constraint : node.constraints)
      if (constraint.feature != split.feature) out.push_back(constraint);
    out.push_back({split.feature, std::move(allowed)});
    return out;
  }

  SketchTree in_preorder() const {
    SketchTree out;
    std::vector<int64_t> open{0}, slots{-1};
    while (!open.empty()) {
      const int64_t id = open.back(), slot = slots.back();
      open.pop_back();
      slots.pop_back();
      if (slot >= 0) out.tree.child[slot] = static_cast<int32_t>(out.tree.kind.size());
      append(nodes_[id], out);
      if (nodes_[id].left < 0) continue;
      const int64_t first = static_cast<int64_t>(out.tree.child.size()) - 2;
      open.insert(open.end(), {nodes_[id].right, nodes_[id].left});
      slots.insert(slots.end(), {first + 1, first});
    }
    return out;
  }

  void append(const SketchNode& node, SketchTree& out) const {
    GrownTree& tree = out.tree;
    const bool leaf = node.left < 0;
    SplitKind kind = SplitKind::leaf;
    double threshold = -2.0;
    if (!leaf) {
      const CellKind cells = features_[node.split.feature].kind;
      kind = cells == CellKind::flag       ? SplitKind::presence
             : cells == CellKind::category ? SplitKind::subset
                                           : SplitKind::threshold;
      threshold = std::numeric_limits<double>::quiet_NaN();
      if (cells == CellKind::threshold) threshold = last_left_cell(node.split);
      tree.child.resize(tree.child.size() + 2, -1);
      if (cells == CellKind::category) list_categories(node, tree);
    }
    tree.kind.push_back(static_cast<uint8_t>(kind));
    tree.feature.push_back(leaf ? -2 : node.split.feature);
    tree.threshold.push_back(threshold);
    tree.child_start.push_back(static_cast<int64_t>(tree.child.size()));
    tree.category_branch.resize(tree.category.size(), 0);
    tree.category_start.push_back(static_cast<int64_t>(tree.category.size()));
    tree.missing_branch.push_back(leaf ? -1 : node.split.missing_left ? 0 : 1);
    tree.impurity.push_back(node.impurity);
    tree.score.push_back(leaf ? std::numeric_limits<double>::quiet_NaN() : node.split.score.value);
    tree.impurity_decrease.push_back(leaf ? 0 : node.decrease);
    tree.weight.push_back(node.weight);
    tree.n_samples.push_back(static_cast<int64_t>(std::llround(node.n)));
    for (int c = 0; c < n_classes_; ++c) {
      tree.value.push_back(node.weight > 0 ? node.tally[c] / node.weight : 1.0 / n_classes_);
      out.count.push_back(node.counts[c].n);
      out.variance.push_back(node.counts[c].variance);
      out.theta.push_back(node.theta[c]);
    }
    out.held.push_back(node.held);
  }

  // The cut's number; the caller knows its value.
  double last_left_cell(const SketchSplit& split) const {
    int32_t cell = features_[split.feature].n_units - 1;
    while (cell >= 0 && !split.left_cells[cell]) --cell;
    return cell;
  }

  void list_categories(const SketchNode& node, GrownTree& tree) const {
    const int32_t n = features_[node.split.feature].n_units;
    for (int32_t cell = 0; cell < n; ++cell)
      if (node.split.left_cells[cell]) tree.category.push_back(cell);
  }

  // The candidate in hand: there are too many of them to ask the heap for each.
  struct Work {
    SketchSplit candidate;
    std::vector<char> right_cells;
    std::vector<Estimate> left, right;  // by class, not yet conserved
    std::vector<double> plain;
  };

  const std::vector<SketchFeature> features_;
  std::vector<std::vector<char>> all_cells_;  // by feature
  const SketchRules rules_;
  const int n_classes_;
  std::vector<std::unique_ptr<ClassIndex>> indexes_;
  std::vector<SketchNode> nodes_;
  double root_weight_ = 0;
  double n_candidates_ = 0;
  mutable Work work_;
};

}  // namespace

SketchTree grow_from_sketches(const SketchBuffer& sketches, const std::vector<ClassSource>& classes,
                              const std::vector<double>& exact_n, const std::vector<SketchFeature>& features,
                              const SketchRules& rules) {
  return SketchGrower(sketches, classes, exact_n, features, rules).grow();
}

}  // namespace thetatree
