#include "grow_sketch.h"

#include <algorithm>
#include <array>
#include <limits>
#include <deque>
#include <memory>
#include <mutex>
#include <numeric>
#include <queue>
#include <utility>

#include "gate.h"
#include "ordering.h"
#include "parallel.h"
#include "significance.h"

namespace thetatree {
namespace {

// A test on a feature: the cells that go left, up to a cut or listed; the others, so far as the node allows
// them, go right.
struct Test {
  int32_t feature = -1;
  int32_t cut = -1;
  const std::vector<char>* listed = nullptr;  // without a cut
};

// By class.
struct Side {
  std::vector<Count> counts;
  std::vector<double> tally;  // weights
  double n = 0, weight = 0, held = 0;

  void start(int n_classes) {
    counts.resize(n_classes);
    tally.resize(n_classes);
    n = weight = held = 0;
  }
  void add(int c, const Count& count, double n_held, double class_weight) {
    counts[c] = count;
    tally[c] = count.n * class_weight;
    n += count.n;
    weight += tally[c];
    held += n_held;
  }
};

struct SketchSplit {
  bool valid = false;
  Test test;
  std::vector<char> left_cells;  // of the split that is made
  bool missing_left = true;
  Score score;
  double decrease = 0;
  NoiseLaw noise;
  Side left, right;
};

struct SketchNode {
  Constraints constraints;
  std::vector<Count> counts;
  std::vector<double> theta;  // by class
  std::vector<double> tally;
  double n = 0, weight = 0, impurity = 0, held = 0;
  int64_t id = 0, depth = 0;
  uint64_t key = 0;
  std::vector<std::unique_ptr<ClassNode>> classes;  // freed once the children stand
  SketchSplit split;
  double decrease = 0;
  double p_value = 1;  // of the split, adjusted for all candidates
  SketchNode *left = nullptr, *right = nullptr;
};

// What a thread has in hand: there are too many candidates to ask the heap for each.
struct Work {
  SketchSplit candidate;
  std::vector<char> cells;
  std::vector<Estimate> left, right;  // by class, not yet conserved
  std::vector<std::vector<std::vector<char>>> groupings;  // of categories, by feature
  std::vector<double> n_tests;  // by feature, all groupings that an order of the categories stands for included
  double n_features = 0;        // that have any

  // What a chance is multiplied by: every feature has an equal part of the level, shared out over its tests.
  double n_tried(int32_t feature) const { return std::max(1.0, n_features * n_tests[feature]); }

  void prepare(int n_classes, size_t n_features) {
    left.resize(n_classes);
    right.resize(n_classes);
    groupings.resize(n_features);
    n_tests.assign(n_features, 0);
    this->n_features = 0;
  }
};

class SketchGrower {
 public:
  SketchGrower(const SketchBuffer& sketches, const std::vector<ClassSource>& classes,
               const std::vector<double>& exact_n, const std::vector<SketchFeature>& features,
               const SketchRules& rules)
      : features_(features), rules_(rules), n_classes_(static_cast<int>(classes.size())) {
    indexes_.resize(classes.size());
    parallel_for(rules.n_threads, n_classes_, [&](int64_t c, int) {
      indexes_[c] = std::make_unique<ClassIndex>(sketches, classes[c], features_);
    });
    for (int32_t f = 0; f < static_cast<int32_t>(features_.size()); ++f) {
      all_cells_.emplace_back(features_[f].n_cells(), 1);
      gaps_.push_back(
          std::any_of(indexes_.begin(), indexes_.end(), [&](const auto& index) { return index->has_known(f); }));
    }
    nodes_.emplace_back();
    SketchNode& root = nodes_.back();
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
    root_loss_ = root.weight * root.impurity;
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

  // The root by itself, with a thread for each class; then as many nodes at once as there are threads. Nodes know
  // nothing of each other, so the order in which they are taken does not show in the tree.
  void grow_depth_first() {
    Work work;
    SketchNode& root = nodes_.front();
    if (!examine(root, work)) return;
    divide(root);
    int64_t n_keys = 0;
    for (const SketchNode* child : {root.left, root.right}) n_keys += listed(*child);
    constexpr int64_t kWorthThreads = 2'000;  // keys; below, starting a thread takes longer than the work
    const int n_threads = n_keys < kWorthThreads ? 1 : rules_.n_threads;
    std::vector<Work> works(std::max(1, n_threads));
    parallel_stack<SketchNode*>(n_threads, {root.right, root.left}, [&](SketchNode* node, int thread, auto& push) {
      if (!examine(*node, works[thread])) return;
      divide(*node);
      push(node->right);
      push(node->left);
    });
  }

  void grow_best_first() {
    Work work;
    using Entry = std::pair<double, int64_t>;  // decrease, then the earlier node
    std::priority_queue<Entry> open;
    const auto consider = [&](SketchNode& node) {
      if (examine(node, work)) open.push({node.decrease, -node.id});
    };
    consider(nodes_[0]);
    for (int64_t leaves = 1; leaves < rules_.max_leaf_nodes && !open.empty(); ++leaves) {
      SketchNode& node = nodes_[-open.top().second];
      open.pop();
      divide(node);
      consider(*node.left);
      consider(*node.right);
    }
    for (; !open.empty(); open.pop()) nodes_[-open.top().second].split.valid = false;
  }

  static int64_t listed(const SketchNode& node) {
    int64_t n_keys = 0;
    for (const auto& own : node.classes) n_keys += static_cast<int64_t>(own->keys().size());
    return n_keys;
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

  bool examine(SketchNode& node, Work& work) const {
    if (!may_split(node)) return false;
    work.prepare(n_classes_, features_.size());
    for (int32_t f = 0; f < static_cast<int32_t>(features_.size()); ++f) count_candidates(node, f, work);
    const std::vector<int32_t> order = drawn_features(node);
    const int64_t n = static_cast<int64_t>(features_.size());
    const int64_t most = rules_.max_features > 0 ? std::min(n, rules_.max_features) : n;
    const NodeTotals totals{n_classes_, node.tally.data(), node.weight, node.impurity};
    with_class_criterion(rules_.criterion, totals, [&](const auto& criterion) {
      for (int64_t begin = 0; begin < n && !node.split.valid; begin += begin ? 1 : most) {
        std::vector<int32_t> features(order.begin() + begin, order.begin() + std::min(n, begin ? begin + 1 : most));
        std::sort(features.begin(), features.end());
        for (const int32_t f : features) search(node, f, criterion, work);
      }
    });
    if (!node.split.valid) return false;
    list_cells(node);
    node.decrease = std::max(0.0, node.split.decrease) * node.weight / root_weight_;
    node.p_value = std::min(1.0, node.split.noise.chance() * work.n_tried(node.split.test.feature));
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

  // The cells that a node allows, or null where it allows them all.
  static const std::vector<char>* constrained(const SketchNode& node, int32_t feature) {
    for (const Constraint& constraint : node.constraints)
      if (constraint.feature == feature) return &constraint.allowed;
    return nullptr;
  }

  const std::vector<char>& allowed_cells(const SketchNode& node, int32_t feature) const {
    const std::vector<char>* allowed = constrained(node, feature);
    return allowed ? *allowed : all_cells_[feature];
  }

  // The gate asks how many tests there are in all, so groupings of categories are made before any is judged.
  void count_candidates(const SketchNode& node, int32_t f, Work& work) const {
    if (features_[f].kind == CellKind::category) {
      work.groupings[f] = category_groupings(node, f, allowed_cells(node, f), work.n_tests[f]);
      work.n_features += work.n_tests[f] > 0;
      return;
    }
    const std::vector<char>* allowed = constrained(node, f);
    for (int32_t cut = 0; cut < features_[f].n_units; ++cut)
      work.n_tests[f] += !allowed || ((*allowed)[cut] && (*allowed)[cut + 1]);
    work.n_features += work.n_tests[f] > 0;
  }

  // Cuts are every place between two cells that are still allowed: for a flag, present against absent.
  template <class Criterion>
  void search(SketchNode& node, int32_t f, const Criterion& criterion, Work& work) const {
    const std::vector<char>& allowed = allowed_cells(node, f);
    const auto consider = [&](int32_t cut, const std::vector<char>* listed) {
      poll();
      resolve(node, {f, cut, listed}, allowed, criterion, work);
      if (work.candidate.valid) std::swap(node.split, work.candidate);
    };
    if (features_[f].kind == CellKind::category) {
      for (const std::vector<char>& left : work.groupings[f]) consider(-1, &left);
      return;
    }
    for (int32_t cut = 0; cut < features_[f].n_units; ++cut)
      if (allowed[cut] && allowed[cut + 1]) consider(cut, nullptr);
  }

  // The groupings that rows would be tried with, on the estimated counts of each category: the cells that go left.
  std::vector<std::vector<char>> category_groupings(const SketchNode& node, int32_t feature,
                                                    const std::vector<char>& allowed, double& n_partitions) const {
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
    n_partitions = partitions_of(levels.size());
    return groupings(node, feature, levels, allowed);
  }

  std::vector<std::vector<char>> groupings(const SketchNode& node, int32_t feature, const Levels& levels,
                                           const std::vector<char>& allowed) const {
    std::vector<std::vector<char>> out;
    const int64_t n = levels.size();
    const int32_t none = features_[feature].n_units;
    const auto add = [&](const std::vector<char>& left_levels) {
      std::vector<char> cells(allowed.size(), 0);
      // A tree lists the categories that go left, so "none of them" has to go right.
      bool none_left = false;
      for (int64_t i = 0; i < n; ++i)
        none_left = none_left || (left_levels[i] && levels.code[i] == static_cast<uint32_t>(none));
      for (int64_t i = 0; i < n; ++i) cells[levels.code[i]] = (left_levels[i] != 0) != none_left;
      out.push_back(std::move(cells));
    };
    if (n < 2) return out;
    if (n_classes_ > 2 && n <= rules_.max_categories) {
      for (uint64_t mask = 0; mask + 1 < 1ULL << (n - 1); ++mask) {
        poll_at(static_cast<int64_t>(mask));
        std::vector<char> left(n, 0);
        left[0] = 1;
        for (int64_t i = 1; i < n; ++i) left[i] = mask >> (i - 1) & 1;
        add(left);
      }
      return out;
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
    return out;
  }

  // The cells of one side of a test, missing ones apart.
  void side_cells(const Test& test, const std::vector<char>& allowed, bool right, std::vector<char>& out) const {
    out.assign(allowed.size(), 0);
    for (int32_t cell = 0; cell < features_[test.feature].missing_cell(); ++cell) {
      const bool left = test.cut >= 0 ? allowed[cell] && cell <= test.cut : (*test.listed)[cell] != 0;
      out[cell] = right ? allowed[cell] && !left : left;
    }
  }

  // By class, before they are made to agree with the node.
  void estimate(const SketchNode& node, const Test& test, const std::vector<char>& allowed, bool right, bool missing,
                Work& work) const {
    std::vector<Estimate>& out = right ? work.right : work.left;
    work.cells.clear();
    for (int c = 0; c < n_classes_; ++c) {
      const ClassNode& own = *node.classes[c];
      if (test.cut >= 0 && own.stands_alone(test.feature)) {
        out[c] = own.among(indexes_[c]->cut_side(features_[test.feature].first_unit + test.cut, right, missing));
        continue;
      }
      if (work.cells.empty()) {
        side_cells(test, allowed, right, work.cells);
        work.cells.back() = missing;
      }
      out[c] = own.among(test.feature, work.cells);
    }
  }

  // Both sides counted and conserved; the missing keys join the heavier side first. The candidate is valid if
  // it is allowed and better than the best so far.
  template <class Criterion>
  void resolve(const SketchNode& node, const Test& test, const std::vector<char>& allowed, const Criterion& criterion,
               Work& work) const {
    SketchSplit& split = work.candidate;
    split.valid = false;
    split.test = test;
    estimate(node, test, allowed, false, false, work);
    estimate(node, test, allowed, true, false, work);
    const bool gaps = allowed.back() && gaps_[test.feature];
    if (gaps) {
      split.missing_left = weight_of(work.left) >= weight_of(work.right);
      estimate(node, test, allowed, !split.missing_left, true, work);
    }
    split.left.start(n_classes_);
    split.right.start(n_classes_);
    for (int c = 0; c < n_classes_; ++c) {
      const Estimate &l = work.left[c], &r = work.right[c];
      const Parts parts = conserve(node.counts[c], {l.count(), l.variance()}, {r.count(), r.variance()});
      if (!parts.possible) return;
      split.left.add(c, parts.left, l.held, rules_.class_weight[c]);
      split.right.add(c, parts.right, r.held, rules_.class_weight[c]);
    }
    if (!gaps) split.missing_left = split.left.weight >= split.right.weight;
    judge(node, criterion, work);
  }

  double weight_of(const std::vector<Estimate>& estimates) const {
    double sum = 0;
    for (int c = 0; c < n_classes_; ++c) sum += estimates[c].count() * rules_.class_weight[c];
    return sum;
  }

  // Limits, score and gate; what fails any of them is no candidate.
  template <class Criterion>
  void judge(const SketchNode& node, const Criterion& criterion, Work& work) const {
    SketchSplit& split = work.candidate;
    const Side &left = split.left, &right = split.right;
    if (left.n <= 0 || right.n <= 0 || left.weight <= 0 || right.weight <= 0) return;
    if (left.n < rules_.min_samples_leaf || right.n < rules_.min_samples_leaf) return;
    if (left.weight < rules_.min_weight_leaf || right.weight < rules_.min_weight_leaf) return;
    split.score = criterion.score(left.tally.data(), left.weight, right.tally.data(), right.weight);
    if (node.split.valid && !beats(split.score, node.split.score, criterion.scale())) return;
    split.decrease =
        criterion.decrease(split.score, left.tally.data(), left.weight, right.tally.data(), right.weight);
    if (rules_.min_impurity_decrease > 0 && split.decrease * node.weight / root_weight_ +
            std::numeric_limits<double>::epsilon() < rules_.min_impurity_decrease)
      return;
    if (rules_.positive_gain && !(split.decrease > kTie * node.impurity)) return;
    const double least =
        rules_.worth.least_score(rules_.criterion, node.impurity, node.weight * node.impurity, root_loss_);
    if (compare_scores(split.score.value, least, criterion.scale()) < 0) return;
    const auto all_known = [](const std::vector<Estimate>& side) {
      return std::all_of(side.begin(), side.end(), [](const Estimate& e) { return e.tau >= 1; });
    };
    const bool exact = all_known(work.left) && all_known(work.right);
    if (!exact && (left.held < rules_.min_held || right.held < rules_.min_held)) return;
    split.noise = noise(node, work);
    split.valid = exact || rules_.significance <= 0 ||
                  split.noise.below(rules_.significance / work.n_tried(split.test.feature));
  }

  NoiseLaw noise(const SketchNode& node, const Work& work) const {
    const Side &left = work.candidate.left, &right = work.candidate.right;
    return law_of_noise(rules_.criterion == Criterion::gini, node.counts, node.n, {work.left, left.counts, left.n},
                        {work.right, right.counts, right.n});
  }

  // What the split that is made sends left, missing keys included.
  void list_cells(SketchNode& node) const {
    SketchSplit& split = node.split;
    const std::vector<char>& allowed = allowed_cells(node, split.test.feature);
    side_cells(split.test, allowed, false, split.left_cells);
    split.left_cells.back() = allowed.back() && split.missing_left;
    split.test.listed = nullptr;
  }

  // The root's counts are the sketches' own; below it keys are looked at one by one, and only those that
  // its split can decide.
  void list_keys(SketchNode& root) {
    const int32_t feature = root.split.test.feature;
    parallel_for(rules_.n_threads, n_classes_, [&](int64_t c, int) {
      if (!indexes_[c]->flat()) return;
      indexes_[c]->list(indexes_[c]->feature_theta(feature));
      root.classes[c] = std::make_unique<ClassNode>(*indexes_[c], Constraints{});
    });
  }

  void divide(SketchNode& node) {
    if (node.id == 0) list_keys(node);
    std::array<SketchNode, 2> children;
    for (const int right : {0, 1}) {
      SketchNode& child = children[right];
      child.depth = node.depth + 1;
      child.key = child_key(node.key, right);
      child.constraints = narrowed(node, right == 0);
      child.counts = right ? node.split.right.counts : node.split.left.counts;
      child.classes.resize(n_classes_);
    }
    constexpr int64_t kWorthThreads = 20'000;  // keys; below, starting a thread takes longer than the work
    parallel_for(listed(node) < kWorthThreads ? 1 : rules_.n_threads, 2 * n_classes_, [&](int64_t task, int) {
      SketchNode& child = children[task % 2];
      auto& own = child.classes[task / 2];
      own = std::make_unique<ClassNode>(*node.classes[task / 2], child.constraints);
      if (rules_.max_depth < 0 || child.depth < rules_.max_depth) own->count();
    });
    node.classes.clear();
    for (SketchNode& child : children) {
      for (const auto& own : child.classes) {
        const Estimate estimate = own->own();
        child.held += estimate.held;
        child.theta.push_back(estimate.tau);
      }
      weigh(child);
    }
    const std::lock_guard<std::mutex> guard(nodes_lock_);
    for (const int right : {0, 1}) {
      children[right].id = static_cast<int64_t>(nodes_.size());
      nodes_.push_back(std::move(children[right]));
      (right ? node.right : node.left) = &nodes_.back();
    }
  }

  Constraints narrowed(const SketchNode& node, bool left) const {
    const SketchSplit& split = node.split;
    std::vector<char> allowed = allowed_cells(node, split.test.feature);
    for (size_t cell = 0; cell < allowed.size(); ++cell)
      allowed[cell] = allowed[cell] && (left ? split.left_cells[cell] : !split.left_cells[cell]);
    Constraints out;
    for (const Constraint& constraint : node.constraints)
      if (constraint.feature != split.test.feature) out.push_back(constraint);
    out.push_back({split.test.feature, std::move(allowed)});
    return out;
  }

  SketchTree in_preorder() const {
    SketchTree out;
    std::vector<const SketchNode*> open{&nodes_.front()};
    std::vector<int64_t> slots{-1}, parents{-1};
    while (!open.empty()) {
      const SketchNode& node = *open.back();
      const int64_t slot = slots.back(), parent = parents.back(), id = static_cast<int64_t>(out.tree.kind.size());
      open.pop_back();
      slots.pop_back();
      parents.pop_back();
      if (slot >= 0) out.tree.child[slot] = static_cast<int32_t>(id);
      append(node, out);
      append_shares(node, parent, out.tree.value);
      if (!node.left) continue;
      const int64_t first = static_cast<int64_t>(out.tree.child.size()) - 2;
      open.insert(open.end(), {node.right, node.left});
      slots.insert(slots.end(), {first + 1, first});
      parents.insert(parents.end(), 2, id);
    }
    return out;
  }

  // What the node predicts: the shares of its counts and of two held keys more, which are as its parent's are. So a
  // class of which no key is held here, though it has many, is not ruled out; where all is known, nothing is added.
  void append_shares(const SketchNode& node, int64_t parent, std::vector<double>& value) const {
    constexpr double kKeysMore = 2;
    double key = 0;  // what one held key stands for
    for (int c = 0; c < n_classes_ && parent >= 0; ++c)
      if (node.theta[c] > 0) key = std::max(key, rules_.class_weight[c] * (1 - node.theta[c]) / node.theta[c]);
    const double more = kKeysMore * key, all = node.weight + more;
    for (int c = 0; c < n_classes_; ++c) {
      const double expected = more > 0 ? more * value[parent * n_classes_ + c] : 0;
      value.push_back(all > 0 ? (node.tally[c] + expected) / all : 1.0 / n_classes_);
    }
  }

  void append(const SketchNode& node, SketchTree& out) const {
    GrownTree& tree = out.tree;
    const bool leaf = !node.left;
    SplitKind kind = SplitKind::leaf;
    double threshold = -2.0;
    if (!leaf) {
      const CellKind cells = features_[node.split.test.feature].kind;
      kind = cells == CellKind::flag       ? SplitKind::presence
             : cells == CellKind::category ? SplitKind::subset
                                           : SplitKind::threshold;
      threshold = std::numeric_limits<double>::quiet_NaN();
      if (cells == CellKind::threshold) threshold = last_left_cell(node.split);
      tree.child.resize(tree.child.size() + 2, -1);
      if (cells == CellKind::category) list_categories(node, tree);
    }
    tree.kind.push_back(static_cast<uint8_t>(kind));
    tree.feature.push_back(leaf ? -2 : node.split.test.feature);
    tree.threshold.push_back(threshold);
    tree.child_start.push_back(static_cast<int64_t>(tree.child.size()));
    tree.category_branch.resize(tree.category.size(), 0);
    tree.category_start.push_back(static_cast<int64_t>(tree.category.size()));
    tree.missing_branch.push_back(leaf ? -1 : node.split.missing_left ? 0 : 1);
    tree.impurity.push_back(node.impurity);
    tree.score.push_back(leaf ? std::numeric_limits<double>::quiet_NaN() : node.split.score.value);
    tree.impurity_decrease.push_back(leaf ? 0 : node.decrease);
    tree.p_value.push_back(leaf ? std::numeric_limits<double>::quiet_NaN() : node.p_value);
    tree.weight.push_back(node.weight);
    tree.n_samples.push_back(static_cast<int64_t>(std::llround(node.n)));
    for (int c = 0; c < n_classes_; ++c) {
      out.count.push_back(node.counts[c].n);
      out.variance.push_back(node.counts[c].variance);
      out.theta.push_back(node.theta[c]);
    }
    out.held.push_back(node.held);
  }

  // The cut's number; the caller knows its value.
  double last_left_cell(const SketchSplit& split) const {
    int32_t cell = features_[split.test.feature].n_units - 1;
    while (cell >= 0 && !split.left_cells[cell]) --cell;
    return cell;
  }

  void list_categories(const SketchNode& node, GrownTree& tree) const {
    const int32_t n = features_[node.split.test.feature].n_units;
    for (int32_t cell = 0; cell < n; ++cell)
      if (node.split.left_cells[cell]) tree.category.push_back(cell);
  }

  const std::vector<SketchFeature> features_;
  std::vector<std::vector<char>> all_cells_;  // by feature
  const SketchRules rules_;
  const int n_classes_;
  std::vector<std::unique_ptr<ClassIndex>> indexes_;
  std::vector<char> gaps_;  // by feature: may its value be missing?
  std::deque<SketchNode> nodes_;  // they stay where they are
  std::mutex nodes_lock_;
  double root_weight_ = 0, root_loss_ = 0;
};

}  // namespace

SketchTree grow_from_sketches(const SketchBuffer& sketches, const std::vector<ClassSource>& classes,
                              const std::vector<double>& exact_n, const std::vector<SketchFeature>& features,
                              const SketchRules& rules) {
  return SketchGrower(sketches, classes, exact_n, features, rules).grow();
}

}  // namespace thetatree
