// Coded columns: what the search works on instead of the caller's values.
//
//   code     the rank of a value among the distinct values of its column; a missing value has the code
//            `levels`, one above the highest. A cut between two values is a cut between two codes, so
//            every exact threshold of the caller's float64 can be told from its neighbours.
//   binned   a number of more than 255 values: its code is a bin, a run of neighbouring values that holds about
//            1/250 of the rows. A search counts bins, and looks at the values only of those that it opens.
//   packed   a column of 0/1 without missing values: one bit a row, 64 columns to a word, row-major,
//            so that one pass counts 64 columns at a time.
//   sparse   a row-wise matrix of which only the non-zero entries are held.
//
// The caller's values are kept in sight (View) and read again only to place a threshold.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "view.h"

namespace thetatree {

enum class Kind : uint8_t { flag = 0, number = 1, category = 2 };
enum class Store : uint8_t { packed, u8, u16, u32, binned, sparse };

constexpr int kMostBins = 255;  // in a byte, with one code left for missing values

// Memory that nobody has written yet: the threads that fill it are the first to touch its pages.
template <class T>
class Unwritten {
 public:
  using value_type = T;
  void resize(int64_t n) { data_.reset(new T[static_cast<size_t>(n)]); }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](int64_t i) { return data_[i]; }
  T operator[](int64_t i) const { return data_[i]; }

 private:
  std::unique_ptr<T[]> data_;
};
using Bytes = Unwritten<uint8_t>;

struct Column {
  Kind kind = Kind::number;
  Store store = Store::u8;
  uint32_t levels = 0;
  bool has_missing = false;
  int32_t slot = 0;  // bit of a packed row; else index among the sparse columns
  View raw;          // dense numbers only
  Bytes codes8;
  std::vector<uint16_t> codes16;
  std::vector<uint32_t> codes32;
  // Binned only. Bin b holds the values above edges[b - 1] and up to edges[b].
  std::vector<double> edges;
  std::vector<char> single;  // bins that can hold one value only
  bool narrow = false;       // every value is exact in float32

  int bin_of(double value) const {
    return static_cast<int>(std::lower_bound(edges.begin(), edges.end(), value) - edges.begin());
  }

  template <class Code>
  const Code* codes() const {
    if constexpr (sizeof(Code) == 1) return codes8.data();
    if constexpr (sizeof(Code) == 2) return codes16.data();
    if constexpr (sizeof(Code) == 4) return codes32.data();
  }
};

// Row-wise non-zero entries of the sparse columns, coded; `values` are the distinct values by column.
struct SparseRows {
  std::vector<int64_t> start;    // per row, into column/code
  std::vector<int32_t> column;   // index among the sparse columns, ascending within a row
  std::vector<uint32_t> code;    // empty where all entries have `one_code`
  uint32_t one_code = 0;
  std::vector<int64_t> value_start;  // per column, into values
  std::vector<double> values;
  std::vector<uint32_t> zero_code;  // per column
  std::vector<char> two_valued;     // per column: zero, one other number, nothing missing
  bool all_two_valued = false;      // those of one value aside
  int64_t n_columns() const { return static_cast<int64_t>(zero_code.size()); }
  int64_t n_entries() const { return static_cast<int64_t>(column.size()); }
  uint32_t code_of(int64_t entry) const { return code.empty() ? one_code : code[entry]; }
};

class Columns {
 public:
  // Numbers are coded by bins where they have more than `most_bins` values (255 at most); with 0, by rank always.
  Columns(int64_t n_rows, int n_threads, int most_bins)
      : n_rows_(n_rows), n_threads_(n_threads), most_bins_(std::min(most_bins, kMostBins)) {}
  Columns(const Columns&) = delete;
  Columns& operator=(const Columns&) = delete;

  // Each returns nothing and appends; the order of calls is the order of features. The views must
  // outlive the object. Refusals (std::invalid_argument) name the column by its position.
  void add_numbers(const std::vector<View>& views);
  void add_flags(const std::vector<View>& views);  // uint8 0/1, or int8 with -1 for missing
  void add_category(View codes, uint32_t levels);  // int32, -1 for missing
  void add_sparse(int64_t n_columns, const int64_t* start, const int32_t* column, View values);

  int64_t n_rows() const { return n_rows_; }
  int64_t n_features() const { return static_cast<int64_t>(columns_.size()); }
  const Column& column(int64_t feature) const { return columns_[feature]; }
  const SparseRows& sparse() const { return sparse_; }
  const uint64_t* words() const { return words_.data(); }
  int64_t words_per_row() const { return words_per_row_; }
  const std::vector<int32_t>& slot_feature() const { return slot_feature_; }  // -1: unused bit
  const std::vector<int32_t>& sparse_feature() const { return sparse_feature_; }
  bool any_missing() const;
  int64_t first_infinite() const { return first_infinite_; }  // a feature with an infinite value, or -1

  uint32_t code(int64_t feature, int64_t row) const;
  bool bit(int64_t slot, int64_t row) const {
    return words_[row * words_per_row_ + (slot >> 6)] >> (slot & 63) & 1;
  }
  // The value of a code that the given row holds, or that the sparse column knows.
  double value(int64_t feature, uint32_t code, int64_t row) const;

 private:
  void pack(const std::vector<int64_t>& features, const std::vector<View>& views,
            std::vector<char>& is_binary);
  void bin_numbers(const std::vector<int64_t>& features, const std::vector<View>& views);
  bool code_few(const View& view, Column& column, char& infinite) const;
  void note_infinite(const std::vector<char>& infinite, const std::vector<int64_t>& features, int64_t base);
  void code_one_value(double value, const std::vector<int64_t>& begin, int64_t base);
  void code_entries(const int32_t* column, View values, std::vector<int64_t> begin, int64_t base);
  void rank_numbers(const std::vector<int64_t>& features, const std::vector<View>& views);

  int64_t n_rows_;
  int n_threads_;
  int most_bins_;
  std::vector<Column> columns_;
  Unwritten<uint64_t> words_;
  int64_t words_per_row_ = 0;
  std::vector<int32_t> slot_feature_;
  SparseRows sparse_;
  std::vector<int32_t> sparse_feature_;
  int64_t first_infinite_ = -1;
};

// Whether any of n floats is infinite; NaN is allowed.
template <class T>
bool any_infinite(const T* values, int64_t n, int n_threads);

}  // namespace thetatree
