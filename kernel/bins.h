// Bins of numbers: edges from a sample, and the bin of every value.
//
// Whatever the edges are, the tree is the same: they only decide how much a search can leave unopened.
#pragma once

#include <cstdint>
#include <vector>

#include "columns.h"

namespace thetatree {

// Sets the column's edges so that it has at most `most_bins` bins of about equally many rows; a value that fills a
// bin by itself is alone in it. False where the sample has so few values that the column may be coded exactly,
// unless `few` are asked for.
bool choose_edges(const View& view, int64_t n_rows, int most_bins, bool few, Column& column);

// Bins rows [begin, end) of these columns into their codes8. `missing`, `wide` and `infinite` are marked by column:
// some value is missing, is not exact in float32, is infinite.
struct BinMarks {
  std::vector<char> missing, wide, infinite;
  explicit BinMarks(int64_t n) : missing(n), wide(n), infinite(n) {}
};
class Binner {
 public:
  Binner(const std::vector<const View*>& views, const std::vector<Column*>& columns);
  void rows(int64_t begin, int64_t end, BinMarks& marks) const;

 private:
  // Edges as the values' own type has them, 256 with infinite ones behind the last, after every sixteenth of them.
  template <class T>
  struct Table {
    alignas(64) T coarse[16];
    alignas(64) T fine[256];
  };
  template <class T>
  void column(const Table<T>& table, int64_t j, int64_t begin, int64_t end, BinMarks& marks) const;

  std::vector<const View*> views_;
  std::vector<Column*> columns_;
  std::vector<Table<float>> narrow_;
  std::vector<Table<double>> wide_;
};

}  // namespace thetatree
