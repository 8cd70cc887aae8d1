// Tallies of a node: its rows counted by feature value and class (or summed, for regression).
//
// The rows of a classification node stand grouped by class, because the root's do and partitions are
// stable. So a class is a run of rows, and a count needs no look at the label.
// A tally is [n, weight of each class] or [n, weight, weighted sum of y].
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "columns.h"
#include "rank.h"
#include "search.h"

namespace thetatree {

enum class Measure : uint8_t { counts, weights, sums };

struct NodeRows {
  Measure measure = Measure::counts;
  const uint32_t* rows = nullptr;
  int64_t n = 0;
  int n_classes = 0;
  std::vector<int64_t> class_begin;  // n_classes + 1 offsets into rows
  std::vector<double> weight;        // by position; empty when every weight is 1
  std::vector<double> y;             // by position, less `centre`; regression only
  double centre = 0;
  std::vector<double> total;         // the node's own tally
  int stride() const { return measure == Measure::sums ? 3 : n_classes + 1; }

  int class_at(int64_t position) const {
    const auto after = std::upper_bound(class_begin.begin(), class_begin.end(), position);
    return static_cast<int>(after - class_begin.begin()) - 1;
  }
  // The class of each position is known to the caller where that is cheaper than to look it up.
  void add(int64_t position, int k, double* tally) const {
    const double w = weight.empty() ? 1.0 : weight[position];
    tally[0] += 1;
    if (measure == Measure::sums) {
      tally[1] += w;
      tally[2] += w * y[position];
    } else {
      tally[1 + k] += w;
    }
  }
};

// Calls body(position, class) for every row, in order.
template <class Body>
void for_each_row(const NodeRows& node, Body&& body) {
  if (node.measure == Measure::sums) {
    for (int64_t i = 0; i < node.n; ++i) body(i, 0);
    return;
  }
  for (int k = 0; k < node.n_classes; ++k)
    for (int64_t i = node.class_begin[k]; i < node.class_begin[k + 1]; ++i) body(i, k);
}

// A thread's buffers, grown once and used for every feature and node.
struct TallyScratch {
  std::vector<uint32_t> counts;  // code x class
  std::vector<double> sums;      // code x stride
  std::vector<uint64_t> sorted, sorted_swap;  // code << 32 | position
  std::vector<WidePair> pairs;
  std::vector<uint16_t> class_of;
  std::vector<double> bins, prefix;  // binned search
  std::vector<double> x_log2_x;      // by x
  Levels levels;
};

// How a dense column's rows are counted: by a table over all codes, or, where the node has far fewer
// rows than the column has codes, by sorting.
bool prefers_table(const Column& column, const NodeRows& node);

void count_codes(const Column& column, const NodeRows& node, std::vector<uint32_t>& counts);
void sum_codes(const Column& column, const NodeRows& node, std::vector<double>& sums);
void sort_codes(const Column& column, const NodeRows& node, TallyScratch& scratch);

// Sorts pairs of code << 32 | position by code; they come by position, and stay so where codes are equal.
void sort_items(uint64_t* begin, uint64_t* end, uint32_t lowest, uint32_t highest, std::vector<uint64_t>& swap);

// Calls body with a dense column's codes.
template <class Body>
void with_code_type(const Column& column, Body&& body) {
  if (column.store == Store::u8) body(column.codes<uint8_t>());
  else if (column.store == Store::u16) body(column.codes<uint16_t>());
  else body(column.codes<uint32_t>());
}

// Present tallies of all packed columns: [slot x (stride)] of the rows whose bit is set.
void tally_packed(const Columns& columns, const NodeRows& node, int n_threads, std::vector<double>& tallies);

// The same of the sparse columns of two values: [column x (stride)] of the rows that hold the value other than zero.
void tally_ones(const Columns& columns, const NodeRows& node, int n_threads, std::vector<double>& tallies);

// The node's non-zero entries by sparse column; `but_two_valued`: without those that tally_ones is for.
struct SparseTally {
  std::vector<int32_t> touched;    // columns with an entry, ascending
  std::vector<int64_t> begin;      // per touched column, into entries
  std::vector<uint64_t> entries;   // code << 32 | position
  std::vector<int32_t> count;      // per column, kept zero between nodes
};
void tally_sparse(const Columns& columns, const NodeRows& node, bool but_two_valued, SparseTally& out);

}  // namespace thetatree
