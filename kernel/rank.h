// Ranks of a column's values among its distinct values, by radix sort.
#pragma once

#include <cstdint>
#include <vector>

#include "columns.h"

namespace thetatree {

struct WidePair {
  uint64_t key;
  uint32_t row;
};

// Buffers that one thread reuses from column to column.
struct RankScratch {
  std::vector<uint64_t> narrow, narrow_swap;  // key << 32 | row
  std::vector<WidePair> wide, wide_swap;
};

// Fills the column's codes, levels and has_missing from float64 values (NaN = missing). `narrow`
// says that every value is exact in float32, which halves the passes.
void rank_values(const double* values, int64_t n, bool narrow, Column& column, RankScratch& scratch);

}  // namespace thetatree
