#include "feature_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absolute.h"
#include "binned_search.h"
#include "ordering.h"
#include "screen.h"
#include "value_order.h"

namespace thetatree {
namespace {

// Positions of the node's rows, grouped by level; the missing rows come last. Only medians need it.
struct Grouping {
  std::vector<int64_t> positions;
  std::vector<int64_t> end;  // per level

  // The same groups in another order of levels.
  Grouping in_order(const std::vector<int32_t>& order) const {
    Grouping out;
    out.positions.reserve(positions.size());
    for (const int32_t level : order) {
      const int64_t from = level ? end[level - 1] : 0;
      out.positions.insert(out.positions.end(), positions.begin() + from, positions.begin() + end[level]);
      out.end.push_back(static_cast<int64_t>(out.positions.size()));
    }
    const int64_t known = end.empty() ? 0 : end.back();
    out.positions.insert(out.positions.end(), positions.begin() + known, positions.end());
    return out;
  }
};

// Everything about one feature in one node that a scan needs.
struct FeatureTally {
  Levels* levels = nullptr;
  std::vector<double> known, missing;
  Grouping groups;
};

void split_known(const NodeRows& rows, FeatureTally& tally) {
  tally.known = rows.total;
  for (int i = 0; i < rows.stride(); ++i) tally.known[i] -= tally.missing[i];
}

// Sorted (code, position) pairs become levels; a code of `missing_code` is no level.
void levels_from_sorted(const NodeRows& rows, const uint64_t* begin, const uint64_t* end, uint32_t missing_code,
                        FeatureTally& tally, bool with_groups) {
  Levels& levels = *tally.levels;
  const int stride = rows.stride();
  for (const uint64_t* item = begin; item != end; ++item) {
    const uint32_t code = static_cast<uint32_t>(*item >> 32);
    const int64_t position = static_cast<uint32_t>(*item);
    const int k = rows.measure == Measure::sums ? 0 : rows.class_at(position);
    if (code == missing_code) {
      rows.add(position, k, tally.missing.data());
    } else {
      if (levels.code.empty() || levels.code.back() != code) {
        if (with_groups && !levels.code.empty())
          tally.groups.end.push_back(static_cast<int64_t>(tally.groups.positions.size()));
        levels.code.push_back(code);
        levels.tally.resize(levels.tally.size() + stride);
      }
      rows.add(position, k, levels.tally.data() + levels.tally.size() - stride);
    }
    if (with_groups) tally.groups.positions.push_back(position);
  }
  if (with_groups && !levels.code.empty()) {
    const int64_t n_missing = static_cast<int64_t>(tally.missing[0]);
    tally.groups.end.push_back(static_cast<int64_t>(tally.groups.positions.size()) - n_missing);
  }
}

// Fills scratch.sorted with a binned column's items.
void order_binned(const NodeView& node, int64_t feature, TallyScratch& scratch) {
  const NodeRows& rows = *node.rows;
  if (!node.lists) return order_rows(node.columns->column(feature), rows, scratch);
  const uint32_t* list = node.lists->list(feature);
  scratch.sorted.resize(rows.n);
  for (int64_t i = 0; i < rows.n; ++i) {
    const uint64_t code = list[i] >> 16 == ValueLists::kMissing ? kMissingItem : list[i] >> 16;
    scratch.sorted[i] = code << 32 | static_cast<uint64_t>(node.lists->position(list[i]));
  }
}

void tally_dense(const NodeView& node, const Column& column, bool with_groups, TallyScratch& scratch,
                 FeatureTally& tally) {
  const NodeRows& rows = *node.rows;
  const int stride = rows.stride();
  if (with_groups || !prefers_table(column, rows)) {
    sort_codes(column, rows, scratch);
    levels_from_sorted(rows, scratch.sorted.data(), scratch.sorted.data() + rows.n, column.levels, tally,
                       with_groups);
    return;
  }
  Levels& levels = *tally.levels;
  sum_codes(column, rows, scratch.sums);
  for (uint32_t code = 0; code < column.levels; ++code) {
    const double* sums = scratch.sums.data() + static_cast<size_t>(code) * stride;
    if (sums[0] == 0) continue;
    levels.code.push_back(code);
    levels.tally.insert(levels.tally.end(), sums, sums + stride);
  }
  const double* missing = scratch.sums.data() + static_cast<size_t>(column.levels) * stride;
  tally.missing.assign(missing, missing + stride);
}

void tally_binned(const NodeView& node, int64_t feature, bool with_groups, TallyScratch& scratch,
                  FeatureTally& tally) {
  order_binned(node, feature, scratch);
  levels_from_sorted(*node.rows, scratch.sorted.data(), scratch.sorted.data() + node.rows->n, kMissingItem, tally,
                     with_groups);
}

// A column of few levels that has been counted together with others.
void tally_counted(const NodeView& node, int64_t feature, FeatureTally& tally) {
  const int stride = node.rows->stride();
  const int64_t place = node.table->place(feature);
  const int n_levels = static_cast<int>(node.columns->column(feature).levels);
  Levels& levels = *tally.levels;
  std::vector<double> level(stride);
  for (int code = 0; code < n_levels; ++code) {
    node.bytes->load(place, code, stride, level.data());
    if (level[0] == 0) continue;
    levels.code.push_back(static_cast<uint32_t>(code));
    levels.tally.insert(levels.tally.end(), level.begin(), level.end());
  }
  node.bytes->load(place, n_levels, stride, tally.missing.data());
}

// Two levels of which the tally of one, `code`, is known.
void tally_two(const NodeRows& rows, const double* one, uint32_t code, Levels& levels) {
  const int stride = rows.stride();
  const auto add = [&](uint32_t added) {
    if (added == code ? one[0] == 0 : one[0] == rows.total[0]) return;
    levels.code.push_back(added);
    for (int i = 0; i < stride; ++i) levels.tally.push_back(added == code ? one[i] : rows.total[i] - one[i]);
  };
  add(0);
  add(1);
}

void tally_bits(const NodeView& node, const Column& column, bool with_groups, FeatureTally& tally) {
  const NodeRows& rows = *node.rows;
  Levels& levels = *tally.levels;
  tally_two(rows, node.packed->data() + static_cast<size_t>(column.slot) * rows.stride(), 1, levels);
  if (!with_groups) return;
  for (const uint32_t code : levels.code) {
    for (int64_t i = 0; i < rows.n; ++i)
      if (node.columns->bit(column.slot, rows.rows[i]) == (code == 1)) tally.groups.positions.push_back(i);
    tally.groups.end.push_back(static_cast<int64_t>(tally.groups.positions.size()));
  }
}

void tally_entries(const NodeView& node, const Column& column, int64_t sparse_at, bool with_groups,
                   TallyScratch& scratch, FeatureTally& tally) {
  const NodeRows& rows = *node.rows;
  const SparseTally& sparse = *node.sparse;
  const uint64_t* begin = sparse.entries.data() + sparse.begin[sparse_at];
  const uint64_t* end = sparse.entries.data() + sparse.begin[sparse_at + 1];
  const uint32_t zero = node.columns->sparse().zero_code[column.slot];
  if (with_groups || rows.n == end - begin) {
    // Medians need the rows themselves, zeros included.
    auto& sorted = scratch.sorted;
    sorted.assign(begin, end);
    std::vector<char> explicit_entry(rows.n);
    for (const uint64_t* item = begin; item != end; ++item) explicit_entry[static_cast<uint32_t>(*item)] = 1;
    for (int64_t i = 0; i < rows.n; ++i)
      if (!explicit_entry[i]) sorted.push_back(static_cast<uint64_t>(zero) << 32 | static_cast<uint64_t>(i));
    std::sort(sorted.begin(), sorted.end());
    levels_from_sorted(rows, sorted.data(), sorted.data() + sorted.size(), column.levels, tally, with_groups);
    return;
  }
  levels_from_sorted(rows, begin, end, column.levels, tally, false);
  Levels& levels = *tally.levels;
  const int stride = rows.stride();
  std::vector<double> zeros = rows.total;
  for (int64_t i = 0; i < levels.size(); ++i)
    for (int j = 0; j < stride; ++j) zeros[j] -= levels.at(i)[j];
  for (int j = 0; j < stride; ++j) zeros[j] -= tally.missing[j];
  const auto at = std::lower_bound(levels.code.begin(), levels.code.end(), zero);
  const int64_t index = at - levels.code.begin();
  if (at != levels.code.end() && *at == zero) {
    add_to(zeros.data(), stride, levels.tally.data() + index * stride);
  } else {
    levels.code.insert(at, zero);
    levels.tally.insert(levels.tally.begin() + index * stride, zeros.begin(), zeros.end());
  }
}

FeatureTally tally_feature(const NodeView& node, int64_t feature, int64_t sparse_at, bool with_groups,
                           TallyScratch& scratch) {
  const Column& column = node.columns->column(feature);
  const int stride = node.rows->stride();
  FeatureTally tally;
  tally.levels = &scratch.levels;
  scratch.levels.clear(stride);
  tally.missing.assign(stride, 0.0);
  if (column.store == Store::packed) tally_bits(node, column, with_groups, tally);
  else if (column.store == Store::sparse && node.ones && node.columns->sparse().two_valued[column.slot])
    tally_two(*node.rows, node.ones->data() + static_cast<size_t>(column.slot) * stride,
              1 - node.columns->sparse().zero_code[column.slot], *tally.levels);
  else if (column.store == Store::sparse) tally_entries(node, column, sparse_at, with_groups, scratch, tally);
  else if (column.store == Store::binned) tally_binned(node, feature, with_groups, scratch, tally);
  else if (!with_groups && node.bytes && column.store == Store::u8) tally_counted(node, feature, tally);
  else tally_dense(node, column, with_groups, scratch, tally);
  split_known(*node.rows, tally);
  return tally;
}

// A criterion for one order of levels: only medians depend on it.
template <class Crit>
Crit criterion_for(const NodeView& node, const FeatureTally& tally, const std::vector<int32_t>& order) {
  if constexpr (std::is_same_v<Crit, AbsoluteError>) {
    const Grouping groups = tally.groups.in_order(order);
    return AbsoluteError(node.totals, *node.medians, groups.positions, groups.end);
  } else {
    (void)tally, (void)order;
    return Crit(node.totals);
  }
}

template <class Crit>
class FeatureSearcher {
 public:
  FeatureSearcher(const NodeView& node, const SearchRules& rules, int64_t feature, int direction,
                  int64_t sparse_at, TallyScratch& scratch, double floor)
      : node_(node), rules_(rules), feature_(feature), column_(node.columns->column(feature)),
        sparse_at_(sparse_at), scratch_(scratch), floor_(floor), bounds_(node.bounds),
        random_(child_key(node.key, static_cast<uint64_t>(feature) + 2)) {
    // "Present" is a flag's higher value and its left side.
    bounds_.direction = column_.kind == Kind::flag ? -direction : direction;
  }

  FeatureSplit run() {
    out_.kind = column_.kind == Kind::number ? SplitKind::threshold
                : column_.kind == Kind::flag ? SplitKind::presence
                                             : SplitKind::subset;
    if constexpr (!std::is_same_v<Crit, AbsoluteError>) {
      if (is_dense() && column_.kind == Kind::number && !rules_.random) {
        stream();
        return finish();
      }
    }
    constexpr bool kGroups = std::is_same_v<Crit, AbsoluteError>;
    tally_ = tally_feature(node_, feature_, sparse_at_, kGroups, scratch_);
    const int64_t n = tally_.levels->size();
    order_.resize(n);
    std::iota(order_.begin(), order_.end(), 0);
    if (column_.kind == Kind::number) scan_number();
    else if (column_.kind == Kind::flag) scan_flag();
    else scan_category();
    return finish();
  }

  Candidate boundary() {
    if constexpr (kConvex<Crit>) return BinnedSearch<Crit>(node_, rules_, feature_, bounds_, scratch_).boundaries();
    return {};
  }

 private:
  bool is_dense() const { return column_.store != Store::packed && column_.store != Store::sparse; }

  // Numbers, level by level, without a table of levels: the fast path.
  void stream() {
    const NodeRows& rows = *node_.rows;
    if (column_.store == Store::binned) {
      if (!by_bins()) stream_binned();
    } else if (!node_.bytes && !prefers_table(column_, rows)) {
      sort_codes(column_, rows, scratch_);
      stream_sorted(column_.levels);
    } else if (!node_.bytes && rows.measure == Measure::counts) {
      stream_counts();
    } else {
      tally_ = tally_feature(node_, feature_, sparse_at_, false, scratch_);
      order_.resize(tally_.levels->size());
      std::iota(order_.begin(), order_.end(), 0);
      scan_and_apart(0, tally_.levels->size() - 1);
    }
  }

  bool by_bins() {
    if constexpr (kConvex<Crit>) {
      if (!node_.bytes) return false;
      BinnedSearch<Crit> search(node_, rules_, feature_, bounds_, scratch_);
      BinnedCut cut;
      if (!search.best(node_.boundaries ? (*node_.boundaries)[feature_] : search.boundaries(), floor_, cut)) return false;
      out_.best = cut.best;
      if (cut.inside) place(cut.low, cut.high);
      return true;
    }
    return false;
  }

  void place(double low, double high) {
    out_.threshold = threshold_between(low, high);
    out_.placed = true;
  }

  void stream_binned() {
    if (node_.lists) return stream_list();
    order_binned(node_, feature_, scratch_);
    stream_sorted(kMissingItem);
    if (!out_.best.valid || out_.best.known_apart) return;
    const uint64_t* cut = scratch_.sorted.data() + out_.best.cut;
    place(value_of_item(cut[0]), value_of_item(cut[1]));
  }

  void stream_list() {
    const NodeRows& rows = *node_.rows;
    const ValueLists& lists = *node_.lists;
    const uint32_t* list = lists.list(feature_);
    if (list[0] >> 16 == list[rows.n - 1] >> 16) return;  // one value, or all missing
    tally_.missing.assign(rows.stride(), 0.0);
    int64_t n_known = rows.n;
    for (; list[n_known - 1] >> 16 == ValueLists::kMissing; --n_known)
      rows.add(lists.position(list[n_known - 1]), lists.class_of(list[n_known - 1]), tally_.missing.data());
    split_known(rows, tally_);
    if (rows.measure == Measure::counts) scan_list<Measure::counts>(list, n_known);
    else if (rows.measure == Measure::weights) scan_list<Measure::weights>(list, n_known);
    else scan_list<Measure::sums>(list, n_known);
    if (!out_.best.valid || out_.best.known_apart) return;
    const uint32_t* cut = list + out_.best.cut;
    place(value_at(lists.position(cut[0])), value_at(lists.position(cut[1])));
  }

  template <Measure kMeasure>
  void scan_list(const uint32_t* list, int64_t n_known) {
    const NodeRows& rows = *node_.rows;
    const ValueLists& lists = *node_.lists;
    Crit crit(node_.totals);
    auto scanner = make_scanner(crit);
    const bool screened = Screen<Crit>::kUseful && n_known == rows.n && bounds_.direction == 0;
    Screen<Crit> screen(node_.totals, rows, scratch_);
    screen.need(scanner.needed(floor_));
    std::vector<double>& prefix = scratch_.prefix;
    prefix.assign(rows.stride(), 0.0);
    for (int64_t i = 0; i < n_known; ++i) {
      const uint32_t item = list[i];
      const int k = kMeasure == Measure::sums ? 0 : lists.class_of(item);
      double w = 1, wy = 0;
      if constexpr (kMeasure == Measure::counts) {
        prefix[1 + k] += 1;
      } else {
        const int64_t position = lists.position(item);
        if (!rows.weight.empty()) w = rows.weight[position];
        if constexpr (kMeasure == Measure::sums) {
          wy = w * rows.y[position];
          prefix[1] += w;
          prefix[2] += wy;
        } else {
          prefix[1 + k] += w;
        }
      }
      screen.add(k, w, wy);
      if (i + 1 < n_known && item >> 16 == list[i + 1] >> 16) continue;
      prefix[0] = static_cast<double>(i + 1);
      if (i + 1 == n_known) {
        scanner.known_apart(i, item >> 16);
      } else if (!screened || screen.passes()) {
        scanner.cut(i, item >> 16, prefix.data());
        screen.need(scanner.needed(floor_));
      }
    }
  }

  double value_at(int64_t position) const { return column_.raw.number(node_.rows->rows[position]); }
  double value_of_item(uint64_t item) const { return value_at(static_cast<uint32_t>(item)); }

  void stream_counts() {
    const NodeRows& rows = *node_.rows;
    const int n_classes = rows.n_classes;
    count_codes(column_, rows, scratch_.counts);
    const uint32_t* counts = scratch_.counts.data();
    tally_.missing.assign(rows.stride(), 0.0);
    for (int k = 0; k < n_classes; ++k) {
      const double missing = counts[static_cast<size_t>(column_.levels) * n_classes + k];
      tally_.missing[0] += missing;
      tally_.missing[1 + k] = missing;
    }
    split_known(rows, tally_);
    Crit crit(node_.totals);
    auto scanner = make_scanner(crit);
    std::vector<double> prefix(rows.stride());
    for (uint32_t code = 0; code < column_.levels; ++code) {
      const uint32_t* level = counts + static_cast<size_t>(code) * n_classes;
      uint32_t n = 0;
      for (int k = 0; k < n_classes; ++k) {
        n += level[k];
        prefix[1 + k] += level[k];
      }
      if (n == 0) continue;
      prefix[0] += n;
      if (prefix[0] == tally_.known[0]) {
        scanner.known_apart(code, code);
        break;
      }
      scanner.cut(code, code, prefix.data());
    }
  }

  void stream_sorted(uint32_t missing_code) {
    const NodeRows& rows = *node_.rows;
    const auto& sorted = scratch_.sorted;
    tally_.missing.assign(rows.stride(), 0.0);
    const bool sums = rows.measure == Measure::sums;
    if (!sums) {
      scratch_.class_of.resize(rows.n);
      for_each_row(rows, [&](int64_t i, int k) { scratch_.class_of[i] = static_cast<uint16_t>(k); });
    }
    const auto class_of = [&](uint64_t item) { return sums ? 0 : scratch_.class_of[static_cast<uint32_t>(item)]; };
    int64_t n_known = rows.n;
    for (; n_known > 0 && sorted[n_known - 1] >> 32 == missing_code; --n_known)
      rows.add(static_cast<uint32_t>(sorted[n_known - 1]), class_of(sorted[n_known - 1]), tally_.missing.data());
    split_known(rows, tally_);
    Crit crit(node_.totals);
    auto scanner = make_scanner(crit);
    std::vector<double> prefix(rows.stride());
    for (int64_t i = 0; i < n_known; ++i) {
      rows.add(static_cast<uint32_t>(sorted[i]), class_of(sorted[i]), prefix.data());
      const uint32_t code = static_cast<uint32_t>(sorted[i] >> 32);
      if (i + 1 == n_known) scanner.known_apart(i, code);
      else if (sorted[i + 1] >> 32 != code) scanner.cut(i, code, prefix.data());
    }
  }

  void scan(const std::vector<int32_t>& order, int64_t first, int64_t last, bool lowest_left) {
    Crit crit = criterion_for<Crit>(node_, tally_, order);
    auto scanner = make_scanner(crit);
    scan_order(scanner, *tally_.levels, order, first, last, lowest_left);
  }

  // The feature's own order, and at its end the candidate that sets the missing rows apart.
  void scan_and_apart(int64_t first, int64_t last) {
    Crit crit = criterion_for<Crit>(node_, tally_, order_);
    auto scanner = make_scanner(crit);
    scan_order(scanner, *tally_.levels, order_, first, last, false);
    const int64_t n = tally_.levels->size();
    if (n > 0) scanner.known_apart(n - 1, tally_.levels->code.back());
  }

  Scanner<Crit> make_scanner(Crit& crit) {
    return Scanner<Crit>(crit, rules_.limits, bounds_, rules_.missing, tally_.known.data(),
                         tally_.missing.data(), out_.best);
  }

  void scan_number() {
    const int64_t n = tally_.levels->size();
    if (rules_.random && n > 1) {
      const int64_t cut = draw_cut();
      scan_and_apart(cut, cut + 1);
      out_.threshold = drawn_;
      out_.placed = true;
    } else {
      scan_and_apart(0, n - 1);
      if (column_.store != Store::binned || !out_.best.valid || out_.best.known_apart) return;
      const auto& code = tally_.levels->code;
      place(value_of(code[out_.best.cut]), value_of(code[out_.best.cut + 1]));
    }
  }

  // A threshold drawn evenly between the node's least and greatest value; the cut is the level below it.
  int64_t draw_cut() {
    const Levels& levels = *tally_.levels;
    const auto value = [&](int64_t level) { return value_of(levels.code[level]); };
    const int64_t n = levels.size();
    const double low = value(0), high = value(n - 1);
    drawn_ = low + random_.uniform() * (high - low);
    if (!(drawn_ < high)) drawn_ = low;
    int64_t from = 0, to = n - 1;  // value(from) <= drawn_ < value(to)
    while (to - from > 1) {
      const int64_t middle = (from + to) / 2;
      (value(middle) <= drawn_ ? from : to) = middle;
    }
    return from;
  }

  double value_of(uint32_t code) const {
    int64_t row = 0;
    if (column_.store == Store::binned) {
      return value_of_item(*std::lower_bound(scratch_.sorted.begin(), scratch_.sorted.end(),
                                             static_cast<uint64_t>(code) << 32));
    } else if (is_dense()) {
      const NodeRows& rows = *node_.rows;
      int64_t i = 0;
      while (node_.columns->code(feature_, rows.rows[i]) != code) ++i;
      row = rows.rows[i];
    }
    return node_.columns->value(feature_, code, row);
  }

  void scan_flag() {
    std::reverse(order_.begin(), order_.end());  // present first: where the test is true is left
    scan_and_apart(0, tally_.levels->size() - 1);
  }

  void scan_category() {
    const Levels& levels = *tally_.levels;
    const int64_t n = levels.size();
    const bool sums = node_.rows->measure == Measure::sums;
    if (n > 1 && !rules_.ordered.empty() && rules_.ordered[feature_]) {
      scan_and_apart(0, n - 1);
      keep_up_to_cut();
      return;
    }
    if (n > 1 && rules_.random) {
      scan_random_subset();
    } else if (n > 1 && (sums || node_.rows->n_classes == 2)) {
      order_ = sums ? order_by_mean(levels) : order_by_share(levels, 1);
      scan_and_apart(0, n - 1);
      keep_left(order_);
      return;
    } else if (n > 1 && n <= rules_.max_categories) {
      scan_partitions();
    } else if (n > 1) {
      scan_orderings();
    }
    scan_and_apart(0, 0);
  }

  // Several one-dimensional orders: by the share of each class, then along the direction in which the
  // levels' class shares vary most.
  void scan_orderings() {
    const Levels& levels = *tally_.levels;
    for (int k = 0; k <= node_.rows->n_classes; ++k) {
      const Candidate before = out_.best;
      const auto order = k < node_.rows->n_classes ? order_by_share(levels, k) : order_by_component(levels, node_.totals);
      scan(order, 0, levels.size() - 1, true);
      if (changed(before)) keep_left(order);
    }
  }

  bool changed(const Candidate& before) const {
    return out_.best.valid && (!before.valid || before.score.value != out_.best.score.value ||
                               before.score.second != out_.best.score.second ||
                               before.score.third != out_.best.score.third);
  }

  void scan_partitions() {
    const Levels& levels = *tally_.levels;
    Crit crit = criterion_for<Crit>(node_, tally_, order_);
    auto scanner = make_scanner(crit);
    for_each_partition(levels, [&](uint64_t mask, const double* left) {
      scanner.cut(static_cast<int64_t>(mask), 0, left);
    });
    if (!out_.best.valid) return;
    out_.left_codes.assign(1, static_cast<int32_t>(levels.code[0]));
    for (int64_t bit = 0; bit + 1 < levels.size(); ++bit)
      if (out_.best.cut >> bit & 1) out_.left_codes.push_back(static_cast<int32_t>(levels.code[bit + 1]));
  }

  void scan_random_subset() {
    const int64_t n = tally_.levels->size();
    std::vector<int32_t> left, right;
    left.push_back(0);
    for (int32_t i = 1; i < n; ++i) (random_.next() & 1 ? left : right).push_back(i);
    if (right.empty()) {
      right.push_back(left.back());
      left.pop_back();
    }
    if (left_is_higher(left)) left.swap(right);
    const int64_t cut = static_cast<int64_t>(left.size()) - 1;
    left.insert(left.end(), right.begin(), right.end());
    scan(left, cut, cut + 1, false);
    keep_left(left);
  }

  // Whether these levels have the higher mean, or the higher share of the second of two classes.
  bool left_is_higher(const std::vector<int32_t>& left) const {
    const bool sums = node_.rows->measure == Measure::sums;
    if (!sums && node_.rows->n_classes != 2) return false;
    double weight = 0, second = 0;
    for (const int32_t i : left) {
      const double* tally = tally_.levels->at(i);
      weight += sums ? tally[1] : tally[1] + tally[2];
      second += tally[2];
    }
    const double all = sums ? tally_.known[1] : tally_.known[1] + tally_.known[2];
    return second / weight > tally_.known[2] / all;
  }

  void keep_left(const std::vector<int32_t>& order) {
    if (!out_.best.valid) return;
    const Levels& levels = *tally_.levels;
    const int64_t n = levels.size(), cut = out_.best.cut + 1;
    out_.left_codes.clear();
    for (int64_t i = out_.best.flipped ? cut : 0; i < (out_.best.flipped ? n : cut); ++i)
      out_.left_codes.push_back(static_cast<int32_t>(levels.code[order[i]]));
    std::sort(out_.left_codes.begin(), out_.left_codes.end());
  }

  // Of ordered categories all those up to the cut are left, whether the node holds any of their rows or not.
  void keep_up_to_cut() {
    if (!out_.best.valid) return;
    out_.left_codes.resize(static_cast<size_t>(out_.best.code) + 1);
    std::iota(out_.left_codes.begin(), out_.left_codes.end(), 0);
  }

  FeatureSplit finish() {
    if (out_.best.valid && out_.best.known_apart) {
      out_.kind = SplitKind::threshold;
      out_.threshold = std::numeric_limits<double>::infinity();
      out_.placed = true;
      out_.left_codes.clear();
    }
    return std::move(out_);
  }

  const NodeView& node_;
  const SearchRules& rules_;
  const int64_t feature_;
  const Column& column_;
  const int64_t sparse_at_;
  TallyScratch& scratch_;
  const double floor_;
  Monotonic bounds_;
  Random random_;
  FeatureTally tally_;
  std::vector<int32_t> order_;
  double drawn_ = 0;
  FeatureSplit out_;
};

// Calls body with a null pointer to the criterion's type for this node's number of classes.
template <class Body>
auto with_criterion(Criterion criterion, int n_classes, Body&& body) {
  const auto classes = [&]<template <int> class Crit>() {
    return n_classes == 2 ? body(static_cast<Crit<2>*>(nullptr)) : body(static_cast<Crit<0>*>(nullptr));
  };
  switch (criterion) {
    case Criterion::entropy: return classes.template operator()<Entropy>();
    case Criterion::gain_ratio: return classes.template operator()<GainRatio>();
    case Criterion::chi_square: return classes.template operator()<ChiSquare>();
    case Criterion::binomial: return classes.template operator()<Binomial>();
    case Criterion::theta: return classes.template operator()<Theta>();
    case Criterion::delta: return classes.template operator()<Delta>();
    case Criterion::weighted_delta: return classes.template operator()<WeightedDelta>();
    case Criterion::squared_error: return body(static_cast<SquaredError*>(nullptr));
    case Criterion::poisson: return body(static_cast<Poisson*>(nullptr));
    case Criterion::absolute_error: return body(static_cast<AbsoluteError*>(nullptr));
    default: return classes.template operator()<Gini>();
  }
}

}  // namespace

bool bounds_bins(Criterion criterion) {
  return with_criterion(criterion, 2, [&]<class Crit>(Crit*) { return kConvex<Crit>; });
}

Candidate search_boundaries(const NodeView& node, const SearchRules& rules, int64_t feature, int direction,
                            TallyScratch& scratch) {
  if (node.columns->column(feature).store != Store::binned || rules.random) return {};
  return with_criterion(rules.criterion, node.rows->n_classes, [&]<class Crit>(Crit*) {
    return FeatureSearcher<Crit>(node, rules, feature, direction, -1, scratch, 0).boundary();
  });
}

FeatureSplit search_feature(const NodeView& node, const SearchRules& rules, int64_t feature, int direction,
                            int64_t sparse_at, TallyScratch& scratch, double floor) {
  return with_criterion(rules.criterion, node.rows->n_classes, [&]<class Crit>(Crit*) {
    return FeatureSearcher<Crit>(node, rules, feature, direction, sparse_at, scratch, floor).run();
  });
}

}  // namespace thetatree
