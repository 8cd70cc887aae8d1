// The best split of each feature in one node: levels from the tallies, candidates from the search.
#pragma once

#include <cstdint>
#include <vector>

#include "columns.h"
#include "search.h"
#include "tally.h"

namespace thetatree {

class MedianRanks;

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
// the split is chosen, unless a random cut already has it.
struct FeatureSplit {
  Candidate best;
  SplitKind kind = SplitKind::leaf;
  bool threshold_drawn = false;
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
  const MedianRanks* medians = nullptr;         // absolute error only
};

constexpr int kMostClassesBinned = 4;  // a bin's bound looks at 2^classes corners

// Whether a feature is searched by its bins; the others have no bins, no bound, or too few rows.
bool searched_by_bins(const NodeView& node, const SearchRules& rules, int64_t feature);

// Counts the bins, and gives the best score of a cut between two of them (-inf if there is none).
double search_boundaries(const NodeView& node, const SearchRules& rules, int64_t feature, int direction,
                         TallyScratch& scratch, BinTally& bins);

// `direction` is the feature's monotonic constraint; `sparse_at` the feature's place among the touched
// sparse columns (sparse features only). With its counted bins, a feature whose best score is below `floor` may
// give a lesser candidate than its best.
FeatureSplit search_feature(const NodeView& node, const SearchRules& rules, int64_t feature, int direction,
                            int64_t sparse_at, TallyScratch& scratch, const BinTally* bins, double floor);

}  // namespace thetatree
