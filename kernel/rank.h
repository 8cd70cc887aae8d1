// Ranks of a column's values among its distinct values, by radix sort.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "columns.h"

namespace thetatree {

// Keys that sort as the numbers do: both zeros are one value, as == has it.
inline uint64_t key_of(double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value == 0.0 ? 0.0 : value);
  return bits >> 63 ? ~bits : bits | 0x8000000000000000ULL;
}

inline uint32_t key_of(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value == 0.0f ? 0.0f : value);
  return bits >> 31 ? ~bits : bits | 0x80000000U;
}

struct WidePair {
  uint64_t key;
  uint32_t row;
};

// Buffers that one thread reuses from column to column.
struct RankScratch {
  std::vector<uint64_t> narrow, narrow_swap;  // key << 32 | row
  std::vector<WidePair> wide, wide_swap;
};

// Few distinct values are found without sorting: at most `most` (255 or less), or the attempt is given up.
bool rank_few(const double* values, int64_t n, int most, Column& column);

// Fills the column's codes, levels and has_missing from float64 values (NaN = missing). `narrow`
// says that every value is exact in float32, which halves the passes.
void rank_values(const double* values, int64_t n, bool narrow, Column& column, RankScratch& scratch);

}  // namespace thetatree
