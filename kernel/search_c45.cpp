#include "search_c45.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "groups_c45.h"

namespace thetatree {
namespace {

constexpr double kEpsilon = 1e-3;     // release 8's: of the average gain, and of split information
constexpr double kMany = 0.3;         // a category of so many values per case stays out of the average gain
constexpr double kMostCases = 25;     // of the least number of cases beside a cut
constexpr double kShareOfCases = 0.1;
constexpr int64_t kMostTabled = 1 << 20;

double sum(const double* tally, int n) { return std::accumulate(tally, tally + n, 0.0); }

}  // namespace

Entropies::Entropies(int64_t most) : table_(std::min(most, kMostTabled) + 1), size_(static_cast<double>(table_.size())) {
  for (size_t i = 0; i < table_.size(); ++i) table_[i] = x_log2_x(static_cast<double>(i));
}

// The levels of a feature in a node with their tallies by class, in ascending order of code.
struct C45Search::Levels {
  int64_t n = 0;
  int width = 0;
  const uint32_t* code = nullptr;
  const double* tally = nullptr;
  const double* known = nullptr;  // by class, all levels together
  double known_weight = 0, missing = 0;
  double base = 0;                // entropy_sum(known)
  const double* at(int64_t i) const { return tally + i * width; }
};

C45Search::C45Search(const Columns& columns, const C45Rules& rules, double root_weight, int64_t most_cases)
    : columns_(columns), rules_(rules), root_weight_(root_weight), f_(most_cases) {
  if (rules.subsets) return;
  all_have_many_ = true;
  for (int64_t j = 0; j < columns.n_features(); ++j) all_have_many_ = all_have_many_ && many_values(j);
}

// Whether a test has so many outcomes that its gain would spoil the average.
bool C45Search::many_values(int64_t feature) const {
  const Column& column = columns_.column(feature);
  if (column.kind == Kind::number || rules_.subsets) return false;
  const double outcomes = column.kind == Kind::category && !rules_.binary_categories ? column.levels : 2;
  return outcomes >= kMany * root_weight_;
}

double C45Search::entropy_sum(const double* tally) const {
  double n = 0, inside = 0;
  for (int k = 0; k < rules_.n_classes; ++k) {
    n += tally[k];
    inside += f_(tally[k]);
  }
  return f_(n) - inside;
}

// What a split is chosen by; below 0 where it can not be.
double C45Search::worth(double gain, double info) const {
  if (!rules_.ratio) return gain;
  return info > kEpsilon ? gain / info : -1;
}

C45Found C45Search::feature(const C45Node& node, int64_t feature, C45Scratch& scratch) const {
  C45Found out;
  out.split.feature = feature;
  if (columns_.column(feature).kind == Kind::number) number(node, feature, scratch, out);
  else category(node, feature, scratch, out);
  out.split.score = worth(out.gain, out.info);
  return out;
}

C45Search::Levels C45Search::dense_levels(const C45Node& node, int64_t feature, C45Scratch& s) const {
  const int width = rules_.n_classes;
  const int64_t levels = columns_.column(feature).levels, n = node.cases.size();
  s.dense.assign((levels + 1) * width, 0.0);
  const uint32_t* rows = node.cases.rows();
  const double* weights = node.cases.weights();
  with_codes(columns_, feature, [&](auto code_of) {
    for (int64_t i = 0; i < n; ++i)
      s.dense[static_cast<int64_t>(code_of(rows[i])) * width + node.classes[i]] += weights ? weights[i] : 1.0;
  });
  s.code.clear();
  s.tally.clear();
  for (int64_t code = 0; code < levels; ++code) {
    const double* tally = s.dense.data() + code * width;
    if (std::none_of(tally, tally + width, [](double w) { return w > 0; })) continue;
    s.code.push_back(static_cast<uint32_t>(code));
    s.tally.insert(s.tally.end(), tally, tally + width);
  }
  Levels out;
  out.missing = sum(s.dense.data() + levels * width, width);
  return out;
}

// For nodes of few cases beside the column's many values.
C45Search::Levels C45Search::sorted_levels(const C45Node& node, int64_t feature, C45Scratch& s) const {
  const int width = rules_.n_classes;
  const uint64_t levels = columns_.column(feature).levels;
  const uint32_t* rows = node.cases.rows();
  const double* weights = node.cases.weights();
  Levels out;
  s.keys.clear();
  with_codes(columns_, feature, [&](auto code_of) {
    for (int64_t i = 0; i < node.cases.size(); ++i) {
      const uint64_t code = code_of(rows[i]);
      if (code == levels) out.missing += weights ? weights[i] : 1.0;
      else s.keys.push_back(code << 32 | static_cast<uint64_t>(i));
    }
  });
  std::sort(s.keys.begin(), s.keys.end());
  s.code.clear();
  s.tally.clear();
  for (const uint64_t key : s.keys) {
    const auto code = static_cast<uint32_t>(key >> 32), i = static_cast<uint32_t>(key);
    if (s.code.empty() || s.code.back() != code) {
      s.code.push_back(code);
      s.tally.resize(s.tally.size() + width, 0.0);
    }
    s.tally[s.tally.size() - width + node.classes[i]] += weights ? weights[i] : 1.0;
  }
  return out;
}

C45Search::Levels C45Search::levels_of(const C45Node& node, int64_t feature, C45Scratch& s) const {
  const bool few = node.cases.size() * 8 < static_cast<int64_t>(columns_.column(feature).levels);
  Levels out = few ? sorted_levels(node, feature, s) : dense_levels(node, feature, s);
  out.n = static_cast<int64_t>(s.code.size());
  out.width = rules_.n_classes;
  out.code = s.code.data();
  out.tally = s.tally.data();
  s.known.assign(out.width, 0.0);
  for (int64_t i = 0; i < out.n; ++i)
    for (int k = 0; k < out.width; ++k) s.known[k] += out.at(i)[k];
  out.known = s.known.data();
  out.known_weight = sum(out.known, out.width);
  out.base = entropy_sum(out.known);
  return out;
}

// Of all cuts that leave enough cases on either side the best gain, less the price of the choice.
void C45Search::number(const C45Node& node, int64_t feature, C45Scratch& s, C45Found& out) const {
  const Levels levels = levels_of(node, feature, s);
  const int width = levels.width;
  const double known = levels.known_weight;
  const double least = std::max(rules_.min_cases, std::min(kMostCases, kShareOfCases * known / width)) - kForgiven;
  const double scale = node.weight * node.impurity;
  s.left.assign(width, 0.0);
  double best = 0;
  int64_t best_at = -1, cuts = 0;
  for (int64_t i = 0; i + 1 < levels.n; ++i) {
    double low = 0, high = 0;
    for (int k = 0; k < width; ++k) low += s.left[k] += levels.at(i)[k];
    if (low < least) continue;
    if (known - low < least) break;
    ++cuts;
    double inside = 0;
    for (int k = 0; k < width; ++k) {
      const double right = larger(0.0, levels.known[k] - s.left[k]);
      high += right;
      inside += f_(s.left[k]) + f_(right);
    }
    const double gain = levels.base - (f_(low) + f_(high) - inside);
    if (compare_scores(gain, best, scale) <= 0) continue;
    best = gain;
    best_at = i;
    out.info = f_(node.weight) - f_(low) - f_(high) - f_(levels.missing);
    out.split.share = {low / known, high / known};
  }
  if (best_at < 0) return;
  const double price = rules_.mdl && cuts > 1 ? std::log2(static_cast<double>(cuts)) : 0;
  out.uncorrected = best / node.weight;
  out.gain = (best - price) / node.weight;
  out.info /= node.weight;
  out.possible = compare_scores(best - price, 0, scale) > 0;
  out.split.kind = SplitKind::threshold;
  out.split.n_branches = 2;
  out.split.code = levels.code[best_at];
  out.above = levels.code[best_at + 1];
}

// A branch a value; at least two of them need enough cases.
void C45Search::category(const C45Node& node, int64_t feature, C45Scratch& s, C45Found& out) const {
  const Column& column = columns_.column(feature);
  const bool flag = column.kind == Kind::flag;
  const Levels levels = levels_of(node, feature, s);
  if (!flag && rules_.binary_categories) return one_against_others(node, levels, s, out);
  if (!flag && rules_.subsets && column.levels > 2) return groups(node, levels, out);
  int64_t enough = 0;
  double after = 0, info = f_(node.weight) - f_(levels.missing);
  out.split.share.assign(column.levels, 0.0);
  for (int64_t i = 0; i < levels.n; ++i) {
    const double n = sum(levels.at(i), levels.width);
    enough += n >= rules_.min_cases - kForgiven;
    after += entropy_sum(levels.at(i));
    info -= f_(n);
    out.split.share[levels.code[i]] = n / levels.known_weight;
  }
  out.possible = enough >= 2;
  out.gain = out.uncorrected = (levels.base - after) / node.weight;
  out.info = info / node.weight;
  out.split.n_branches = static_cast<int32_t>(column.levels);
  out.split.kind = flag ? SplitKind::presence : SplitKind::multiway;
  if (flag) {
    std::reverse(out.split.share.begin(), out.split.share.end());  // present is the first branch
  } else {
    out.split.branch_of.resize(column.levels);
    std::iota(out.split.branch_of.begin(), out.split.branch_of.end(), 0);
  }
}

void C45Search::one_against_others(const C45Node& node, const Levels& levels, C45Scratch& s, C45Found& out) const {
  const double least = rules_.min_cases - kForgiven, scale = node.weight * node.impurity;
  double best = -1;
  int64_t best_at = -1;
  s.left.assign(levels.width, 0.0);
  for (int64_t i = 0; i < levels.n; ++i) {
    const double n = sum(levels.at(i), levels.width), others = levels.known_weight - n;
    if (n < least || others < least) continue;
    for (int k = 0; k < levels.width; ++k) s.left[k] = larger(0.0, levels.known[k] - levels.at(i)[k]);
    const double gain = levels.base - entropy_sum(levels.at(i)) - entropy_sum(s.left.data());
    if (best_at >= 0 && compare_scores(gain, best, scale) <= 0) continue;
    best = gain;
    best_at = i;
    out.info = (f_(node.weight) - f_(n) - f_(others) - f_(levels.missing)) / node.weight;
    out.split.share = {n / levels.known_weight, others / levels.known_weight};
  }
  if (best_at < 0) return;
  out.possible = true;
  out.gain = out.uncorrected = best / node.weight;
  out.split.kind = SplitKind::subset;
  out.split.n_branches = 2;
  out.split.branch_of.assign(columns_.column(out.split.feature).levels, 1);
  out.split.branch_of[levels.code[best_at]] = 0;
}

// Values are merged two groups at a time, as long as what the split is chosen by does not fall.
void C45Search::groups(const C45Node& node, const Levels& levels, C45Found& out) const {
  ValueGroups merged(f_, levels.tally, levels.n, levels.width, rules_.min_cases - kForgiven);
  const auto gain_of = [&](double after) { return (levels.base - after) / node.weight; };
  const double whole = f_(node.weight) - f_(levels.missing);
  const auto info_of = [&](double sizes) { return (whole - sizes) / node.weight; };
  merged.merge([&](double after, double sizes) { return worth(gain_of(after), info_of(sizes)); });
  out.possible = merged.enough() >= 2;
  out.gain = out.uncorrected = gain_of(merged.after());
  out.info = info_of(merged.sizes());
  out.split.kind = SplitKind::multiway;
  out.split.n_branches = static_cast<int32_t>(merged.size());
  out.split.branch_of.assign(columns_.column(out.split.feature).levels, -1);
  out.split.share.assign(merged.size(), 0.0);
  for (int64_t i = 0; i < levels.n; ++i) {
    const int32_t group = merged.group_of(i);
    out.split.branch_of[levels.code[i]] = group;
    out.split.share[group] += sum(levels.at(i), levels.width) / levels.known_weight;
  }
}

int64_t C45Search::choose(const C45Node& node, const std::vector<int64_t>& features,
                          const std::vector<C45Found>& found) const {
  double average = 0;
  int64_t counted = 0;
  for (const int64_t f : features) {
    if (!found[f].possible || (!all_have_many_ && many_values(f))) continue;
    average += found[f].gain;
    ++counted;
  }
  average = counted ? average / static_cast<double>(counted) : 1e6;
  int64_t best = -1;
  for (const int64_t f : features) {
    const C45Found& one = found[f];
    if (!one.possible || compare_scores(one.gain, 0, node.impurity) <= 0 || one.split.score < 0) continue;
    if (rules_.ratio && one.gain < average - kEpsilon) continue;
    if (rules_.min_ratio > 0 && !(one.info > 0 && one.gain / one.info >= rules_.min_ratio - 1e-12)) continue;
    if (one.uncorrected * node.weight / root_weight_ < rules_.min_decrease - 1e-12) continue;
    if (best < 0 || compare_scores(one.split.score, found[best].split.score, 0) > 0) best = f;
  }
  return best;
}

}  // namespace thetatree
