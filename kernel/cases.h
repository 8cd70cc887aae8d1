// Cases: rows of which a node may hold a part. A row whose value a split asks for in vain goes to every branch,
// with as much of its weight as that branch has of the known cases (Quinlan 1993, chapter 3).
//
//   store    rows and their weights, shared by the nodes among which they are divided
//   branch   what a split makes of a row's code; -1 where it is missing or listed nowhere
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "columns.h"
#include "feature_search.h"

namespace thetatree {

struct CaseStore {
  std::vector<uint32_t> row;
  std::vector<double> weight;  // empty: 1 each
};

struct Cases {
  std::shared_ptr<CaseStore> store;
  int64_t first = 0, last = 0;

  int64_t size() const { return last - first; }
  const uint32_t* rows() const { return store->row.data() + first; }
  const double* weights() const { return store->weight.empty() ? nullptr : store->weight.data() + first; }
};

// A split into any number of branches, in the terms of the coded columns.
struct BranchSplit {
  SplitKind kind = SplitKind::leaf;
  int64_t feature = -1;
  uint32_t code = 0;               // threshold: up to this goes left
  double threshold = 0;
  std::vector<int32_t> branch_of;  // categories: by code
  int32_t n_branches = 0;
  std::vector<double> share;       // of the known cases, by branch
  double score = 0;

  int32_t branch(uint32_t value, uint32_t missing) const {
    if (value == missing) return -1;
    if (kind == SplitKind::threshold) return value <= code ? 0 : 1;
    if (kind == SplitKind::presence) return value == 1 ? 0 : 1;
    return branch_of[value];
  }
};

// Calls body(code_of), code_of(row) being the code of a row in the column.
template <class Body>
void with_codes(const Columns& columns, int64_t feature, Body&& body) {
  const Column& column = columns.column(feature);
  switch (column.store) {
    case Store::u8: return body([codes = column.codes8.data()](uint32_t row) -> uint32_t { return codes[row]; });
    case Store::u16: return body([codes = column.codes16.data()](uint32_t row) -> uint32_t { return codes[row]; });
    case Store::u32: return body([codes = column.codes32.data()](uint32_t row) { return codes[row]; });
    default: return body([&columns, feature](uint32_t row) { return columns.code(feature, row); });
  }
}

Cases all_cases(int64_t n_rows, const double* weight);

class Divider {
 public:
  explicit Divider(const Columns& columns) : columns_(columns) {}

  // The cases of each branch; a branch that no known case takes gets none. Where no case at all is known they
  // are spread by split.share. The given cases may change places within their store.
  std::vector<Cases> divide(const BranchSplit& split, const Cases& cases);

  // Whether a case was missing, the last time.
  bool parted() const { return parted_; }

 private:
  std::vector<Cases> sort_in_place(const Cases& cases, const std::vector<int64_t>& count);
  std::vector<Cases> with_parts(const BranchSplit& split, const Cases& cases, const std::vector<int64_t>& count);

  const Columns& columns_;
  bool parted_ = false;
  std::vector<int32_t> branch_;
  std::vector<uint32_t> rows_;
  std::vector<double> weights_;
};

// Adds the cases' weights by class; returns their sum. `by_class` holds n_classes zeros.
double count_classes(const Cases& cases, const int32_t* classes, int n_classes, std::vector<double>& by_class);

}  // namespace thetatree
