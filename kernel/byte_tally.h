// Tallies of many one-byte columns in one pass over a node's rows.
//
//   lane    the place of a column among up to 32 whose codes stand side by side, row by row
//   block   the columns that share such rows
//
// A row of a block is half a cache line and its counters lie in as many tables as there are lanes, so that no count
// waits for the one before: about a nanosecond for three columns.
#pragma once

#include <cstdint>
#include <vector>

#include "columns.h"
#include "tally.h"

namespace thetatree {

constexpr int kLanes = 32;
constexpr int kCodes = 256;

// All columns whose codes are bytes (bins included), row by row.
class ByteRows {
 public:
  ByteRows(const Columns& columns, int n_threads);
  struct Block {
    int width = 0;  // lanes, a multiple of 8
    int used = 0;
    Bytes data;
  };
  const std::vector<Block>& blocks() const { return blocks_; }
  int64_t place(int64_t feature) const { return place_[feature]; }  // block x lanes + lane; -1: no byte column
  bool empty() const { return blocks_.empty(); }

 private:
  std::vector<Block> blocks_;
  std::vector<int64_t> place_;
};

// Rows of a node by code of every byte column. Whole counts are kept as such, and may be subtracted.
struct ByteTally {
  int n_classes = 0, width = 0;
  std::vector<uint32_t> counts;  // [block][class][lane][code]
  std::vector<double> sums;      // [block][lane][code][width]: rows, then class weights, or weight, w y and w y²
  bool empty() const { return counts.empty() && sums.empty(); }

  // The tally of one code, as long as the node's stride.
  void load(int64_t place, int code, int stride, double* tally) const {
    if (counts.empty()) {
      const double* from = sums.data() + (place * kCodes + code) * width;
      for (int i = 0; i < stride; ++i) tally[i] = from[i];
      return;
    }
    const uint32_t* from = counts.data() + ((place / kLanes * n_classes) * kLanes + place % kLanes) * kCodes + code;
    uint32_t n = 0;
    for (int k = 0; k < n_classes; ++k) {
      const uint32_t of_class = from[static_cast<int64_t>(k) * kLanes * kCodes];
      n += of_class;
      tally[1 + k] = of_class;
    }
    tally[0] = n;
  }
  double squares(int64_t place, int code) const { return sums[(place * kCodes + code) * width + 3]; }
};

void tally_bytes(const ByteRows& table, const NodeRows& node, int n_threads, ByteTally& out);

// Takes a part's whole counts away.
void subtract(const ByteTally& part, ByteTally& whole);

}  // namespace thetatree
