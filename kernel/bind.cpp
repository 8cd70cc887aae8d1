// The one file that knows Python: plain arrays in, plain arrays out, the interpreter's lock released.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>

#include "bind_call.h"
#include "codes.h"
#include "columns.h"
#include "count_sketch.h"
#include "grow.h"
#include "grow_c45.h"
#include "grow_sketch.h"
#include "prune.h"
#include "route.h"
#include "sketch_node.h"
#include "sketch_sums.h"
#include "route_branch.h"
#include "route_fractional.h"
#include "special.h"
#include "value_order.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace thetatree {
namespace {

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
Out<T> to_numpy(std::vector<T>&& items) {
  auto* kept = new std::vector<T>(std::move(items));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Out<T>(kept->data(), {kept->size()}, owner);
}

Type type_of_array(const AnyArray& array) {
  const auto type = array.dtype();
  const auto is = [&](nb::dlpack::dtype_code code, int bits) {
    return type.code == static_cast<uint8_t>(code) && type.bits == bits;
  };
  using Code = nb::dlpack::dtype_code;
  if (is(Code::Float, 32)) return Type::f32;
  if (is(Code::Float, 64)) return Type::f64;
  if (is(Code::Bool, 8) || is(Code::UInt, 8)) return Type::u8;
  if (is(Code::Int, 8)) return Type::i8;
  if (is(Code::Int, 16)) return Type::i16;
  if (is(Code::UInt, 16)) return Type::u16;
  if (is(Code::Int, 32)) return Type::i32;
  if (is(Code::UInt, 32)) return Type::u32;
  if (is(Code::Int, 64)) return Type::i64;
  if (is(Code::UInt, 64)) return Type::u64;
  throw std::invalid_argument("array of a type that the kernel does not read");
}

// One view per column of a matrix, or one for a vector.
void append_views(const AnyArray& array, std::vector<View>& views) {
  const Type type = type_of_array(array);
  const int64_t size = size_of(type);
  const char* data = static_cast<const char*>(array.data());
  const int64_t n = array.ndim() == 2 ? static_cast<int64_t>(array.shape(1)) : 1;
  const int64_t step = array.ndim() == 2 ? array.stride(1) * size : 0;
  for (int64_t j = 0; j < n; ++j) views.push_back({data + j * step, array.stride(0) * size, type});
}

// Coded columns together with the arrays that they look at.
class PyColumns {
 public:
  PyColumns(int64_t n_rows, int n_threads, int most_bins) : columns(n_rows, n_threads, most_bins) {
    if (n_rows >= int64_t{1} << 31)
      throw std::invalid_argument("more than 2^31 - 1 rows: sample them, or sketch them");
  }

  void add_numbers(const std::vector<AnyArray>& arrays) {
    const auto views = keep(arrays);
    run_unlocked([&] { columns.add_numbers(views); });
  }
  void add_flags(const std::vector<AnyArray>& arrays) {
    const auto views = keep(arrays);
    run_unlocked([&] { columns.add_flags(views); });
  }
  void add_category(Vector<int32_t> codes, uint32_t levels) {
    check_rows(static_cast<int64_t>(codes.shape(0)));
    const View view{reinterpret_cast<const char*>(codes.data()), sizeof(int32_t), Type::i32};
    run_unlocked([&] { columns.add_category(view, levels); });
  }
  void add_sparse(int64_t n_columns, Vector<int64_t> start, Vector<int32_t> column, AnyArray values) {
    check_rows(static_cast<int64_t>(start.shape(0)) - 1);
    const View view{static_cast<const char*>(values.data()), size_of(type_of_array(values)),
                    type_of_array(values)};
    run_unlocked([&] { columns.add_sparse(n_columns, start.data(), column.data(), view); });
  }

  Columns columns;

 private:
  void check_rows(int64_t n) const {
    if (n != columns.n_rows()) throw std::invalid_argument("columns of unequal length");
  }
  std::vector<View> keep(const std::vector<AnyArray>& arrays) {
    std::vector<View> views;
    for (const auto& array : arrays) {
      check_rows(static_cast<int64_t>(array.shape(0)));
      append_views(array, views);
      kept_.push_back(array);
    }
    return views;
  }
  std::vector<AnyArray> kept_;
};

template <class T>
T field(const nb::dict& rules, const char* name) {
  return nb::cast<T>(rules[name]);
}

GrowRules read_rules(const nb::dict& rules) {
  GrowRules out;
  out.search.criterion = static_cast<Criterion>(field<int>(rules, "criterion"));
  out.search.missing = field<bool>(rules, "majority") ? Missing::majority : Missing::learnt;
  out.search.max_categories = field<int>(rules, "max_categories");
  out.search.random = field<bool>(rules, "random_splits");
  Limits& limits = out.search.limits;
  limits.min_leaf = field<double>(rules, "min_samples_leaf");
  limits.min_weight = field<double>(rules, "min_weight_leaf");
  limits.min_decrease = field<double>(rules, "min_impurity_decrease");
  limits.positive_gain = field<bool>(rules, "positive_gain");
  out.search.ordered = field<std::vector<int8_t>>(rules, "ordered");
  out.worth.min_score = field<double>(rules, "min_score");
  out.worth.min_gain = field<double>(rules, "min_gain");
  out.worth.min_improvement = field<double>(rules, "min_improvement");
  out.worth.p1 = field<double>(rules, "p1");
  out.worth.p2 = field<double>(rules, "p2");
  out.n_classes = field<int>(rules, "n_classes");
  out.max_depth = field<int64_t>(rules, "max_depth");
  out.min_samples_split = field<int64_t>(rules, "min_samples_split");
  out.min_impurity_split = field<double>(rules, "min_impurity_split");
  out.max_leaf_nodes = field<int64_t>(rules, "max_leaf_nodes");
  out.max_features = field<int64_t>(rules, "max_features");
  out.seed = field<uint64_t>(rules, "seed");
  out.monotonic = field<std::vector<int8_t>>(rules, "monotonic");
  out.tier = field<std::vector<int32_t>>(rules, "tier");
  out.force = field<int64_t>(rules, "force");
  out.largest_first = field<bool>(rules, "largest_first");
  out.significance = field<double>(rules, "significance");
  out.trace = out.each_best = field<bool>(rules, "trace");
  out.binned_from = field<int64_t>(rules, "binned_from");
  out.listed_to = std::min(field<int64_t>(rules, "listed_to"), ValueLists::kMostRows);
  out.n_threads = field<int>(rules, "n_threads");
  return out;
}

Target read_target(const nb::object& y, const nb::object& weight, int n_classes) {
  Target target;
  if (n_classes > 0) target.classes = nb::cast<Vector<int32_t>>(y).data();
  else target.y = nb::cast<Vector<double>>(y).data();
  if (!weight.is_none()) target.weight = nb::cast<Vector<double>>(weight).data();
  return target;
}

nb::dict to_dict(GrownTree&& tree) {
  nb::dict out;
  out["kind"] = to_numpy(std::move(tree.kind));
  out["feature"] = to_numpy(std::move(tree.feature));
  out["threshold"] = to_numpy(std::move(tree.threshold));
  out["child_start"] = to_numpy(std::move(tree.child_start));
  out["child"] = to_numpy(std::move(tree.child));
  out["category_start"] = to_numpy(std::move(tree.category_start));
  out["category"] = to_numpy(std::move(tree.category));
  out["category_branch"] = to_numpy(std::move(tree.category_branch));
  out["missing_branch"] = to_numpy(std::move(tree.missing_branch));
  out["impurity"] = to_numpy(std::move(tree.impurity));
  out["score"] = to_numpy(std::move(tree.score));
  out["impurity_decrease"] = to_numpy(std::move(tree.impurity_decrease));
  out["weighted_n_node_samples"] = to_numpy(std::move(tree.weight));
  out["n_node_samples"] = to_numpy(std::move(tree.n_samples));
  out["value"] = to_numpy(std::move(tree.value));
  if (!tree.p_value.empty()) out["p_value"] = to_numpy(std::move(tree.p_value));
  if (!tree.trace.empty()) out["trace"] = to_numpy(std::move(tree.trace));
  return out;
}

nb::dict py_grow(const PyColumns& columns, nb::object y, nb::object weight, nb::dict options) {
  const GrowRules rules = read_rules(options);
  const Target target = read_target(y, weight, rules.n_classes);
  GrownTree tree = run_unlocked([&] { return grow(columns.columns, target, rules); });
  return to_dict(std::move(tree));
}

C45Rules read_c45_rules(const nb::dict& rules) {
  C45Rules out;
  out.n_classes = field<int>(rules, "n_classes");
  out.ratio = field<bool>(rules, "ratio");
  out.mdl = field<bool>(rules, "mdl");
  out.subsets = field<bool>(rules, "subsets");
  out.binary_categories = field<bool>(rules, "binary_categories");
  out.once_per_path = field<bool>(rules, "once_per_path");
  out.collapse = field<bool>(rules, "collapse");
  out.min_cases = field<double>(rules, "min_cases");
  out.min_split = field<double>(rules, "min_split");
  out.min_ratio = field<double>(rules, "min_ratio");
  out.min_decrease = field<double>(rules, "min_decrease");
  out.min_impurity = field<double>(rules, "min_impurity");
  out.max_depth = field<int64_t>(rules, "max_depth");
  out.max_features = field<int64_t>(rules, "max_features");
  out.seed = field<uint64_t>(rules, "seed");
  out.n_threads = field<int>(rules, "n_threads");
  return out;
}

// The tree as it was grown, and the pruned one; the same where nothing is pruned.
nb::tuple py_grow_c45(const PyColumns& columns, Vector<int32_t> y, nb::object weight, nb::dict options) {
  const C45Rules rules = read_c45_rules(options);
  const C45Pruning pruning{field<bool>(options, "prune"), field<bool>(options, "raising"),
                           static_cast<LimitRule>(field<int>(options, "limits")), field<double>(options, "confidence")};
  const Target target = read_target(nb::cast(y), weight, rules.n_classes);
  C45Trees trees = run_unlocked([&] { return grow_c45(columns.columns, target, rules, pruning); });
  nb::dict grown = to_dict(std::move(trees.grown));
  return nb::make_tuple(grown, pruning.on ? to_dict(std::move(trees.pruned)) : grown);
}

nb::list py_candidates_c45(const PyColumns& columns, Vector<int32_t> y, nb::object weight, nb::dict options) {
  const C45Rules rules = read_c45_rules(options);
  const Target target = read_target(nb::cast(y), weight, rules.n_classes);
  std::vector<C45Found> found = run_unlocked([&] { return candidates_c45(columns.columns, target, rules); });
  nb::list out;
  for (C45Found& one : found) {
    nb::dict row;
    row["possible"] = one.possible;
    row["kind"] = static_cast<int>(one.split.kind);
    row["threshold"] = one.split.threshold;
    row["branch_of"] = to_numpy(std::move(one.split.branch_of));
    row["share"] = to_numpy(std::move(one.split.share));
    row["gain"] = one.gain;
    row["uncorrected"] = one.uncorrected;
    row["info"] = one.info;
    out.append(row);
  }
  return out;
}

// Which of n levels go left, as bits: every partition as the exhaustive search visits it.
Out<uint8_t> py_codes_present(AnyArray codes, int64_t n_labels) {
  std::vector<View> views;
  append_views(codes, views);
  std::vector<uint8_t> present;
  run_unlocked([&] { present = codes_present(views.at(0), static_cast<int64_t>(codes.shape(0)), n_labels); });
  return to_numpy(std::move(present));
}

Out<int32_t> py_translate_codes(AnyArray codes, Vector<int32_t> to) {
  std::vector<View> views;
  append_views(codes, views);
  const std::vector<int32_t> table(to.data(), to.data() + to.shape(0));
  std::vector<int32_t> out;
  run_unlocked([&] { out = translate_codes(views.at(0), static_cast<int64_t>(codes.shape(0)), table); });
  return to_numpy(std::move(out));
}

Out<uint64_t> py_partition_masks(int n) {
  if (n < 2 || n > 24) throw std::invalid_argument("2 to 24 levels");
  Levels levels;
  levels.clear(n);
  for (int i = 0; i < n; ++i) {
    levels.code.push_back(static_cast<uint32_t>(i));
    for (int j = 0; j < n; ++j) levels.tally.push_back(i == j);
  }
  std::vector<uint64_t> left_levels;
  for_each_partition(levels, [&](uint64_t, const double* left) {
    uint64_t bits = 0;
    for (int i = 0; i < n; ++i) bits |= static_cast<uint64_t>(left[i] > 0) << i;
    left_levels.push_back(bits);
  });
  return to_numpy(std::move(left_levels));
}

nb::list py_candidates(const PyColumns& columns, nb::object y, nb::object weight, nb::dict options) {
  const GrowRules rules = read_rules(options);
  const Target target = read_target(y, weight, rules.n_classes);
  RootCandidates found = run_unlocked([&] { return root_candidates(columns.columns, target, rules); });
  nb::list out;
  for (size_t f = 0; f < found.splits.size(); ++f) {
    const FeatureSplit& split = found.splits[f];
    nb::dict row;
    row["valid"] = split.best.valid;
    row["kind"] = static_cast<int>(split.kind);
    row["threshold"] = found.threshold[f];
    row["left_categories"] = to_numpy(std::vector<int32_t>(split.left_codes));
    row["missing_left"] = split.best.missing_left;
    row["score"] = split.best.score.value;
    row["decrease"] = split.best.decrease;
    row["n_left"] = split.best.left_count;
    row["n_right"] = split.best.right_count;
    row["weight_left"] = split.best.left_weight;
    row["weight_right"] = split.best.right_weight;
    out.append(row);
  }
  return out;
}

// A list of whole numbers, or none.
std::vector<int64_t> places(const nb::dict& source, const char* name) {
  return nb::cast<std::vector<int64_t>>(source[name]);
}

ClassSource read_source(const nb::dict& source) {
  ClassSource out;
  out.total = field<int64_t>(source, "total");
  out.present = places(source, "present");
  out.absent = places(source, "absent");
  out.known = places(source, "known");
  out.only = field<int64_t>(source, "only");
  out.other_total = field<int64_t>(source, "other_total");
  out.other_present = places(source, "other_present");
  out.other_absent = places(source, "other_absent");
  out.other_known = places(source, "other_known");
  out.whole_total = field<int64_t>(source, "whole_total");
  out.whole_present = places(source, "whole_present");
  out.whole_absent = places(source, "whole_absent");
  out.whole_known = places(source, "whole_known");
  return out;
}

struct SketchProblem {
  SketchBuffer sketches;
  std::vector<ClassSource> classes;
  std::vector<SketchFeature> features;
};

SketchProblem read_problem(const Vector<uint64_t>& hashes, const Vector<int64_t>& start,
                           const Vector<uint64_t>& theta, const nb::list& classes, const nb::list& features) {
  SketchProblem out;
  out.sketches = {hashes.data(), start.data(), theta.data()};
  for (const auto& source : classes) out.classes.push_back(read_source(nb::cast<nb::dict>(source)));
  int32_t unit = 0;
  for (const auto& item : features) {
    const auto [kind, n_units, complete] = nb::cast<std::tuple<int, int32_t, bool>>(item);
    out.features.push_back({static_cast<CellKind>(kind), unit, n_units, complete});
    unit += n_units;
  }
  return out;
}

SketchRules read_sketch_rules(const nb::dict& rules) {
  SketchRules out;
  out.criterion = static_cast<Criterion>(field<int>(rules, "criterion"));
  out.max_depth = field<int64_t>(rules, "max_depth");
  out.min_samples_split = field<double>(rules, "min_samples_split");
  out.min_samples_leaf = field<double>(rules, "min_samples_leaf");
  out.min_weight_leaf = field<double>(rules, "min_weight_leaf");
  out.min_impurity_decrease = field<double>(rules, "min_impurity_decrease");
  out.min_impurity_split = field<double>(rules, "min_impurity_split");
  out.max_leaf_nodes = field<int64_t>(rules, "max_leaf_nodes");
  out.max_features = field<int64_t>(rules, "max_features");
  out.max_categories = field<int>(rules, "max_categories");
  out.positive_gain = field<bool>(rules, "positive_gain");
  out.worth.min_score = field<double>(rules, "min_score");
  out.worth.min_gain = field<double>(rules, "min_gain");
  out.significance = field<double>(rules, "significance");
  out.min_held = field<double>(rules, "min_held");
  out.seed = field<uint64_t>(rules, "seed");
  out.class_weight = field<std::vector<double>>(rules, "class_weight");
  out.n_threads = field<int>(rules, "n_threads");
  return out;
}

nb::dict py_grow_from_sketches(Vector<uint64_t> hashes, Vector<int64_t> start, Vector<uint64_t> theta,
                               nb::list classes, std::vector<double> exact_n, nb::list features, nb::dict rules) {
  const SketchProblem problem = read_problem(hashes, start, theta, classes, features);
  const SketchRules limits = read_sketch_rules(rules);
  SketchTree grown = run_unlocked([&] {
    return grow_from_sketches(problem.sketches, problem.classes, exact_n, problem.features, limits);
  });
  nb::dict out = to_dict(std::move(grown.tree));
  out["count"] = to_numpy(std::move(grown.count));
  out["variance"] = to_numpy(std::move(grown.variance));
  out["theta"] = to_numpy(std::move(grown.theta));
  out["held"] = to_numpy(std::move(grown.held));
  return out;
}

// The counts of a tree's nodes, by the tests that the caller has put in the sketches' terms.
nb::dict py_count_tree(Vector<uint64_t> hashes, Vector<int64_t> start, Vector<uint64_t> theta, nb::list classes,
                       std::vector<double> exact_n, nb::list features, Vector<int32_t> feature,
                       Vector<int64_t> child_start, Vector<int32_t> child, Vector<int64_t> branch_start,
                       Vector<int32_t> branch, Vector<double> weight, int n_threads) {
  const SketchProblem problem = read_problem(hashes, start, theta, classes, features);
  const TreeTests tree{static_cast<int64_t>(feature.shape(0)), feature.data(), child_start.data(), child.data(),
                       branch_start.data(), branch.data(), weight.data()};
  TreeCounts counts = run_unlocked([&] {
    return count_tree(problem.sketches, problem.classes, exact_n, problem.features, tree, n_threads);
  });
  nb::dict out;
  out["count"] = to_numpy(std::move(counts.count));
  out["variance"] = to_numpy(std::move(counts.variance));
  out["theta"] = to_numpy(std::move(counts.theta));
  out["held"] = to_numpy(std::move(counts.held));
  return out;
}

Constraints read_constraints(const nb::list& constraints) {
  Constraints out;
  for (const auto& item : constraints) {
    const auto [feature, allowed] = nb::cast<std::pair<int32_t, std::vector<int>>>(item);
    out.push_back({feature, std::vector<char>(allowed.begin(), allowed.end())});
  }
  return out;
}

// The keys of one class in each of some nodes, as the resolution rule finds them: (hashes below τ, τ).
nb::list py_resolve_each(Vector<uint64_t> hashes, Vector<int64_t> start, Vector<uint64_t> theta, nb::dict source,
                         nb::list features, nb::list nodes) {
  nb::list one;
  one.append(source);
  const SketchProblem problem = read_problem(hashes, start, theta, one, features);
  ClassIndex index(problem.sketches, problem.classes[0], problem.features);
  if (index.flat()) index.list(kThetaOne);
  nb::list out;
  for (const auto& constraints : nodes) {
    const ClassNode node(index, read_constraints(nb::cast<nb::list>(constraints)));
    std::vector<uint64_t> found;
    for (const uint32_t key : node.keys())
      if (node.tau() >= kThetaOne || index.hash(key) < node.tau()) found.push_back(index.hash(key));
    out.append(nb::make_tuple(to_numpy(std::move(found)), std::min(node.tau(), kThetaOne)));
  }
  return out;
}

// Sums over the keys of nodes; the arrays are held while it is in use.
class PySums {
 public:
  PySums(Vector<uint64_t> hashes, Vector<int64_t> start, Vector<uint64_t> theta, nb::dict source, nb::list features,
         Vector<uint64_t> keys, Vector<double> y)
      : hashes_(hashes), start_(start), theta_(theta) {
    nb::list one;
    one.append(source);
    SketchProblem problem = read_problem(hashes, start, theta, one, features);
    index_ = run_unlocked([&] {
      return std::make_unique<SumIndex>(problem.sketches, problem.classes[0], std::move(problem.features), keys.data(),
                                        y.data(), static_cast<int64_t>(keys.shape(0)));
    });
  }

  // Four numbers a line: held keys, τ, sum and sum of squares.
  nb::object among(nb::list node, nb::list tests, int n_threads) const {
    const Constraints own = read_constraints(node), wanted = read_constraints(tests);
    std::vector<Sums> found = run_unlocked([&] { return index_->among(own, wanted, n_threads); });
    std::vector<double> out;
    for (const Sums& one : found) out.insert(out.end(), {one.held, one.tau, one.sum, one.square});
    return nb::cast(to_numpy(std::move(out)));
  }

 private:
  Vector<uint64_t> hashes_;
  Vector<int64_t> start_;
  Vector<uint64_t> theta_;
  std::unique_ptr<SumIndex> index_;
};

// The arrays of a tree that routing reads, held while it is in use.
class PyRouter {
 public:
  PyRouter(Vector<uint8_t> kind, Vector<int32_t> feature, Vector<double> threshold,
           Vector<int64_t> child_start, Vector<int32_t> child, Vector<int64_t> category_start,
           Vector<int32_t> category, Vector<int32_t> category_branch, Vector<int32_t> missing_branch,
           Vector<uint8_t> coded)
      : kind_(kind), feature_(feature), threshold_(threshold), child_start_(child_start), child_(child),
        category_start_(category_start), category_(category), category_branch_(category_branch),
        missing_branch_(missing_branch), coded_(coded) {
    view_ = {static_cast<int64_t>(kind_.shape(0)), kind_.data(), feature_.data(), threshold_.data(),
             child_start_.data(), child_.data(), category_start_.data(), category_.data(),
             category_branch_.data(), missing_branch_.data(), coded_.data()};
    const int32_t* end = missing_branch_.data() + missing_branch_.shape(0);
    in_parts_ = std::find(missing_branch_.data(), end, kEveryBranch) != end;
  }

  // The leaves, and whether all values are known to be finite or NaN.
  std::pair<Out<int64_t>, bool> rows(int64_t n_rows, const std::vector<AnyArray>& arrays, int n_threads) const {
    refuse_parts();
    const RowsView rows = view_of(n_rows, arrays);
    std::vector<int64_t> leaf(n_rows);
    const bool finite = run_unlocked([&] { return route(view_, rows, n_threads, leaf.data()); });
    return {to_numpy(std::move(leaf)), finite};
  }

  Out<int64_t> sparse(Vector<int64_t> start, Vector<int32_t> column, AnyArray values, int n_threads) const {
    refuse_parts();
    const SparseRowsView rows = view_of(start, column, values);
    std::vector<int64_t> leaf(rows.n_rows);
    run_unlocked([&] { route(view_, rows, n_threads, leaf.data()); });
    return to_numpy(std::move(leaf));
  }

  nb::tuple spread_rows(Vector<double> weight, int64_t n_rows, const std::vector<AnyArray>& arrays, bool all_nodes,
                        int n_threads) const {
    return in_parts(weight, view_of(n_rows, arrays), all_nodes, n_threads);
  }

  nb::tuple spread_sparse(Vector<double> weight, Vector<int64_t> start, Vector<int32_t> column, AnyArray values,
                          bool all_nodes, int n_threads) const {
    return in_parts(weight, view_of(start, column, values), all_nodes, n_threads);
  }

 private:
  void refuse_parts() const {
    if (in_parts_) throw std::invalid_argument("a row may end in several leaves of this tree: spread it");
  }

  RowsView view_of(int64_t n_rows, const std::vector<AnyArray>& arrays) const {
    RowsView rows;
    rows.n_rows = n_rows;
    for (const auto& array : arrays) {
      if (static_cast<int64_t>(array.shape(0)) != n_rows) throw std::invalid_argument("columns of unequal length");
      append_views(array, rows.columns);
    }
    if (rows.columns.size() != coded_.shape(0)) throw std::invalid_argument("wrong number of columns");
    return rows;
  }

  static SparseRowsView view_of(const Vector<int64_t>& start, const Vector<int32_t>& column, const AnyArray& values) {
    const Type type = type_of_array(values);
    return {static_cast<int64_t>(start.shape(0)) - 1, start.data(), column.data(),
            {static_cast<const char*>(values.data()), size_of(type), type}};
  }

  template <class Rows>
  nb::tuple in_parts(const Vector<double>& weight, const Rows& rows, bool all_nodes, int n_threads) const {
    if (weight.shape(0) != kind_.shape(0)) throw std::invalid_argument("one weight a node");
    RowParts parts = run_unlocked([&] { return spread(view_, weight.data(), rows, all_nodes, n_threads); });
    return nb::make_tuple(to_numpy(std::move(parts.start)), to_numpy(std::move(parts.node)),
                          to_numpy(std::move(parts.part)));
  }

  Vector<uint8_t> kind_;
  Vector<int32_t> feature_;
  Vector<double> threshold_;
  Vector<int64_t> child_start_;
  Vector<int32_t> child_;
  Vector<int64_t> category_start_;
  Vector<int32_t> category_, category_branch_, missing_branch_;
  Vector<uint8_t> coded_;
  TreeView view_;
  bool in_parts_ = false;
};

bool py_any_infinite(AnyArray array, int n_threads) {
  const int64_t n = static_cast<int64_t>(array.size());
  const Type type = type_of_array(array);
  return run_unlocked([&] {
    if (type == Type::f32) return any_infinite(static_cast<const float*>(array.data()), n, n_threads);
    if (type == Type::f64) return any_infinite(static_cast<const double*>(array.data()), n, n_threads);
    return false;
  });
}

nb::tuple py_weakest_links(Vector<int64_t> child_start, Vector<int32_t> child, Vector<double> risk, double most) {
  double start_risk = 0;
  const std::vector<PruneStep> steps = run_unlocked([&] {
    return weakest_links(static_cast<int64_t>(risk.shape(0)), child_start.data(), child.data(), risk.data(), most,
                         start_risk);
  });
  std::vector<int64_t> node;
  std::vector<double> alpha, risks;
  for (const auto& step : steps) {
    node.push_back(step.node);
    alpha.push_back(step.alpha);
    risks.push_back(step.risk);
  }
  return nb::make_tuple(start_risk, to_numpy(std::move(node)), to_numpy(std::move(alpha)),
                        to_numpy(std::move(risks)));
}

}  // namespace
}  // namespace thetatree

void bind_sketch(nb::module_& m);

NB_MODULE(_kernel, m) {
  // A model that a daemon thread still holds when the interpreter ends is no leak that its user could mend.
  nb::set_leak_warnings(false);
  bind_sketch(m);
  using namespace thetatree;
  nb::class_<PyColumns>(m, "Columns")
      .def(nb::init<int64_t, int, int>(), "n_rows"_a, "n_threads"_a, "most_bins"_a = 0)
      .def("add_numbers", &PyColumns::add_numbers, "arrays"_a)
      .def("add_flags", &PyColumns::add_flags, "arrays"_a)
      .def("add_category", &PyColumns::add_category, "codes"_a, "levels"_a, nb::keep_alive<1, 2>())
      .def("add_sparse", &PyColumns::add_sparse, "n_columns"_a, "start"_a, "column"_a, "values"_a)
      .def("any_missing", [](const PyColumns& c) { return c.columns.any_missing(); })
      .def("has_missing", [](const PyColumns& c, int64_t f) { return c.columns.column(f).has_missing; })
      .def("first_infinite", [](const PyColumns& c) { return c.columns.first_infinite(); });
  nb::class_<PyRouter>(m, "Router")
      .def(nb::init<Vector<uint8_t>, Vector<int32_t>, Vector<double>, Vector<int64_t>, Vector<int32_t>,
                    Vector<int64_t>, Vector<int32_t>, Vector<int32_t>, Vector<int32_t>, Vector<uint8_t>>())
      .def("rows", &PyRouter::rows, "n_rows"_a, "arrays"_a, "n_threads"_a)
      .def("sparse", &PyRouter::sparse, "start"_a, "column"_a, "values"_a, "n_threads"_a)
      .def("spread_rows", &PyRouter::spread_rows, "weight"_a, "n_rows"_a, "arrays"_a, "all_nodes"_a, "n_threads"_a)
      .def("spread_sparse", &PyRouter::spread_sparse, "weight"_a, "start"_a, "column"_a, "values"_a, "all_nodes"_a,
           "n_threads"_a);
  m.def("grow_c45", &py_grow_c45, "columns"_a, "y"_a, "weight"_a.none(), "rules"_a);
  m.def("candidates_c45", &py_candidates_c45, "columns"_a, "y"_a, "weight"_a.none(), "rules"_a);
  m.def("error_limit", [](int rule, double confidence, double e, double n) {
    return ErrorLimit(static_cast<LimitRule>(rule), confidence).errors(e, n);
  }, "rule"_a, "confidence"_a, "e"_a, "n"_a);
  m.def("grow", &py_grow, "columns"_a, "y"_a, "weight"_a.none(), "rules"_a);
  m.def("grow_from_sketches", &py_grow_from_sketches, "hashes"_a, "start"_a, "theta"_a, "classes"_a, "exact_n"_a,
        "features"_a, "rules"_a);
  m.def("count_tree", &py_count_tree, "hashes"_a, "start"_a, "theta"_a, "classes"_a, "exact_n"_a, "features"_a,
        "feature"_a, "child_start"_a, "child"_a, "branch_start"_a, "branch"_a, "weight"_a, "n_threads"_a);
  nb::class_<PySums>(m, "Sums")
      .def(nb::init<Vector<uint64_t>, Vector<int64_t>, Vector<uint64_t>, nb::dict, nb::list, Vector<uint64_t>,
                    Vector<double>>())
      .def("among", &PySums::among);
  m.def("resolve_each", &py_resolve_each, "hashes"_a, "start"_a, "theta"_a, "source"_a, "features"_a, "nodes"_a);
  m.def("candidates", &py_candidates, "columns"_a, "y"_a, "weight"_a.none(), "rules"_a);
  m.def("partition_masks", &py_partition_masks, "n"_a);
  m.def("codes_present", &py_codes_present, "codes"_a, "n_labels"_a);
  m.def("translate_codes", &py_translate_codes, "codes"_a, "to"_a);
  m.def("any_infinite", &py_any_infinite, "array"_a, "n_threads"_a);
  m.def("weakest_links", &py_weakest_links, "child_start"_a, "child"_a, "risk"_a, "most"_a);
  m.def("log_two_sided", &log_two_sided, "k"_a, "n"_a, "p"_a);
  m.def("log_binomial_at_least", &log_binomial_at_least, "k"_a, "n"_a, "p"_a);
  m.def("log_binomial_at_most", &log_binomial_at_most, "k"_a, "n"_a, "p"_a);
}
