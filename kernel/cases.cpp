#include "cases.h"

#include <algorithm>
#include <numeric>

namespace thetatree {

Cases all_cases(int64_t n_rows, const double* weight) {
  auto store = std::make_shared<CaseStore>();
  store->row.resize(n_rows);
  std::iota(store->row.begin(), store->row.end(), 0u);
  if (weight) store->weight.assign(weight, weight + n_rows);
  return {std::move(store), 0, n_rows};
}

double count_classes(const Cases& cases, const int32_t* classes, int n_classes, std::vector<double>& by_class) {
  by_class.assign(n_classes, 0.0);
  const uint32_t* rows = cases.rows();
  const double* weights = cases.weights();
  for (int64_t i = 0; i < cases.size(); ++i) by_class[classes[rows[i]]] += weights ? weights[i] : 1.0;
  return std::accumulate(by_class.begin(), by_class.end(), 0.0);
}

std::vector<Cases> Divider::divide(const BranchSplit& split, const Cases& cases) {
  const int64_t n = cases.size();
  const uint32_t missing = columns_.column(split.feature).levels;
  const uint32_t* rows = cases.rows();
  std::vector<int64_t> count(split.n_branches + 1);  // the last: missing
  branch_.resize(n);
  with_codes(columns_, split.feature, [&](auto code_of) {
    for (int64_t i = 0; i < n; ++i) {
      const int32_t branch = split.branch(code_of(rows[i]), missing);
      branch_[i] = branch < 0 ? split.n_branches : branch;
      ++count[branch_[i]];
    }
  });
  parted_ = count.back() > 0;
  return parted_ ? with_parts(split, cases, count) : sort_in_place(cases, count);
}

// Nothing is missing: a stable counting sort, after which each branch is a range of the same store.
std::vector<Cases> Divider::sort_in_place(const Cases& cases, const std::vector<int64_t>& count) {
  const int64_t n = cases.size();
  std::vector<Cases> out;
  std::vector<int64_t> at;
  int64_t begin = 0;
  for (size_t b = 0; b + 1 < count.size(); ++b) {
    at.push_back(begin);
    out.push_back({cases.store, cases.first + begin, cases.first + begin + count[b]});
    begin += count[b];
  }
  CaseStore& store = *cases.store;
  rows_.assign(cases.rows(), cases.rows() + n);
  const bool weighted = !store.weight.empty();
  if (weighted) weights_.assign(cases.weights(), cases.weights() + n);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t to = cases.first + at[branch_[i]]++;
    store.row[to] = rows_[i];
    if (weighted) store.weight[to] = weights_[i];
  }
  return out;
}

// Each branch gets a store of its own: its known cases, then its part of the missing ones.
std::vector<Cases> Divider::with_parts(const BranchSplit& split, const Cases& cases,
                                       const std::vector<int64_t>& count) {
  const int64_t n = cases.size(), n_missing = count.back();
  const uint32_t* rows = cases.rows();
  const double* weights = cases.weights();
  const auto weight_of = [&](int64_t i) { return weights ? weights[i] : 1.0; };
  std::vector<double> share(split.n_branches);
  for (int64_t i = 0; i < n; ++i)
    if (branch_[i] < split.n_branches) share[branch_[i]] += weight_of(i);
  const double known = std::accumulate(share.begin(), share.end(), 0.0);
  if (known > 0)
    for (double& s : share) s /= known;
  else
    share = split.share;
  std::vector<Cases> out(split.n_branches);
  for (int32_t b = 0; b < split.n_branches; ++b) {
    if (share[b] <= 0) continue;
    auto store = std::make_shared<CaseStore>();
    store->row.reserve(count[b] + n_missing);
    store->weight.reserve(count[b] + n_missing);
    out[b].store = std::move(store);
  }
  const auto give = [&](int32_t b, int64_t i, double weight) {
    if (!out[b].store || weight <= 0) return;  // a part may be too small to be a number
    out[b].store->row.push_back(rows[i]);
    out[b].store->weight.push_back(weight);
    ++out[b].last;
  };
  for (int64_t i = 0; i < n; ++i)
    if (branch_[i] < split.n_branches) give(branch_[i], i, weight_of(i));
  for (int32_t b = 0; b < split.n_branches; ++b)
    for (int64_t i = 0; i < n; ++i)
      if (branch_[i] == split.n_branches) give(b, i, weight_of(i) * share[b]);
  return out;
}

}  // namespace thetatree
