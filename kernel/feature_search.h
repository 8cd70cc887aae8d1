// The best split of each feature in one node: levels from the tallies, candidates from the search.
#pragma once

#include <cstdint>
#include <vector>

#include "columns.h"
#include "search.h"
#include "tally.h"

namespace thetatree {

class ByteRows;
struct ByteTally;
class MedianPlaces;
class ValueLists;

enum class SplitKind : uint8_t { leaf = 0, threshold = 1, presence = 2, subset = 3, multiway = 4 };

struct SearchRules {
  Criterion criterion = Criterion::gini;
  Missing missing = Missing::learnt;
  int max_categories = 10;
  bool random = false;  // one random cut a feature
  std::vector<int8_t> ordered;  // by feature, or empty: categories are cut in the order of their codes
  Limits limits;
};

// A feature's best split. A threshold cut lies above `code`; the value to compare with is placed once
// the split is chosen, unless the search knew the values on either side.
struct FeatureSplit {
  Candidate best;
  SplitKind kind = SplitKind::leaf;
  bool placed = false;
  double threshold = 0;
  std::vector<int32_t> left_codes;  // subset: ascending
};

// What one node offers all its features.
struct NodeView {
  const Columns* columns = nullptr;
  const NodeRows* rows = nullptr;
  NodeTotals totals;
  Monotonic bounds;        // direction is the feature's, set by the caller
  uint64_t key = 0;        // the node's random stream
  const std::vector<double>* packed = nullptr;  // present tallies by slot
  const SparseTally* sparse = nullptr;
  const std::vector<double>* ones = nullptr;    // of sparse columns of two values, where they have been counted
  const MedianPlaces* medians = nullptr;         // absolute error only
  const ByteRows* table = nullptr;              // of one-byte columns, and this node's tally of them
  const ByteTally* bytes = nullptr;
  const std::vector<Candidate>* boundaries = nullptr;  // by feature, where they have been searched
  const ValueLists* lists = nullptr;            // small nodes only
};

// Half-way between two neighbouring values, never on the wrong side of either.
inline double threshold_between(double low, double high) {
  const double middle = low / 2 + high / 2;
  return low <= middle && middle < high ? middle : low;
}

// Whether this criterion's best cut may be found from tallies of bins.
bool bounds_bins(Criterion criterion);

// Whether the first part of this criterion's score tells which of two splits is better.
inline bool has_one_score(Criterion criterion) { return criterion != Criterion::theta; }

// A binned number's best cut between two bins of a node whose bytes are tallied; none if the feature is not searched so.
Candidate search_boundaries(const NodeView& node, const SearchRules& rules, int64_t feature, int direction,
                            TallyScratch& scratch);

// `direction` is the feature's monotonic constraint; `sparse_at` the feature's place among the touched
// sparse columns (sparse features only). A binned feature whose best score is below `floor` may give a lesser
// candidate than its best, or none.
FeatureSplit search_feature(const NodeView& node, const SearchRules& rules, int64_t feature, int direction,
                            int64_t sparse_at, TallyScratch& scratch, double floor);

}  // namespace thetatree
