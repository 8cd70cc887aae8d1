#include "bins.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "isa.h"
#include "random.h"

#if THETATREE_X86_64_V4
#include <immintrin.h>
#endif

namespace thetatree {
namespace {

constexpr int64_t kSample = 8192;  // 32 rows a bin: its size is right within a fifth
constexpr int64_t kTile = 256;     // rows read of one column before the next one's turn

bool exact_in_float(Type type) {
  return type == Type::f32 || type == Type::i8 || type == Type::u8 || type == Type::i16 || type == Type::u16;
}

double just_below(double value, bool narrow) {
  constexpr double kLow = -std::numeric_limits<double>::infinity();
  return narrow ? std::nextafter(static_cast<float>(value), static_cast<float>(kLow)) : std::nextafter(value, kLow);
}

std::vector<double> sample(const View& view, int64_t n_rows) {
  std::vector<double> values;
  const int64_t n = std::min(n_rows, kSample);
  values.reserve(n);
  with_type(view.type, [&]<class T>() {
    Random random(0);  // the same rows in every run
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = n < n_rows ? static_cast<int64_t>(random.below(static_cast<uint64_t>(n_rows))) : i;
      const double value = static_cast<double>(view.at<T>(row));
      if (std::isfinite(value)) values.push_back(value == 0.0 ? 0.0 : value);
    }
  });
  std::sort(values.begin(), values.end());
  return values;
}

// The bin of a value by halving: eight steps without a branch.
template <class T>
int bin_by_halving(const T* fine, T value) {
  int at = 0;
  for (int step = 128; step; step >>= 1) at += (fine[at + step - 1] < value) * step;
  return at;
}

// What bins of a tile's values are, one by one.
template <class T>
void bin_plainly(const T*, const T* fine, const T* values, int64_t n, uint8_t missing, uint8_t* bins) {
  for (int64_t i = 0; i < n; ++i) {
    const int bin = bin_by_halving(fine, values[i]);
    bins[i] = values[i] == values[i] ? static_cast<uint8_t>(bin) : missing;
  }
}

#if THETATREE_X86_64_V4
// Two comparisons with sixteen edges each; a mask's bits are counted.
__attribute__((target("arch=x86-64-v4"))) void bin_by_masks(const float* coarse, const float* fine,
                                                            const float* values, int64_t n, uint8_t missing,
                                                            uint8_t* bins) {
  const __m512 top = _mm512_load_ps(coarse);
  for (int64_t i = 0; i < n; ++i) {
    const __m512 value = _mm512_set1_ps(values[i]);
    const int high = __builtin_popcount(_mm512_cmp_ps_mask(top, value, _CMP_LT_OQ));
    const int low = __builtin_popcount(_mm512_cmp_ps_mask(_mm512_load_ps(fine + 16 * high), value, _CMP_LT_OQ));
    bins[i] = values[i] == values[i] ? static_cast<uint8_t>(16 * high + low) : missing;
  }
}

__attribute__((target("arch=x86-64-v4"))) void bin_by_masks(const double* coarse, const double* fine,
                                                            const double* values, int64_t n, uint8_t missing,
                                                            uint8_t* bins) {
  const __m512d top = _mm512_load_pd(coarse), top2 = _mm512_load_pd(coarse + 8);
  for (int64_t i = 0; i < n; ++i) {
    const __m512d value = _mm512_set1_pd(values[i]);
    const int high = __builtin_popcount(_mm512_cmp_pd_mask(top, value, _CMP_LT_OQ)) +
                     __builtin_popcount(_mm512_cmp_pd_mask(top2, value, _CMP_LT_OQ));
    const double* edges = fine + 16 * high;
    const int low = __builtin_popcount(_mm512_cmp_pd_mask(_mm512_load_pd(edges), value, _CMP_LT_OQ)) +
                    __builtin_popcount(_mm512_cmp_pd_mask(_mm512_load_pd(edges + 8), value, _CMP_LT_OQ));
    bins[i] = values[i] == values[i] ? static_cast<uint8_t>(16 * high + low) : missing;
  }
}
#endif

template <class T>
void bin_values(const T* coarse, const T* fine, const T* values, int64_t n, uint8_t missing, uint8_t* bins) {
#if THETATREE_X86_64_V4
  if (has_x86_64_v4()) return bin_by_masks(coarse, fine, values, n, missing, bins);
#endif
  bin_plainly(coarse, fine, values, n, missing, bins);
}

struct Seen {
  bool missing, infinite, wide;
};

// Whether any value is missing, infinite or, of doubles, not exact in float32.
template <class T>
THETATREE_CLONES Seen look_at(const T* values, int64_t n) {
  int missing = 0, infinite = 0, wide = 0;
  for (int64_t i = 0; i < n; ++i) {
    missing |= values[i] != values[i];
    infinite |= std::fabs(values[i]) > std::numeric_limits<T>::max();
    wide |= (values[i] == values[i]) & (static_cast<T>(static_cast<float>(values[i])) != values[i]);
  }
  return {missing != 0, infinite != 0, wide != 0};
}
template Seen look_at<float>(const float*, int64_t);
template Seen look_at<double>(const double*, int64_t);

}  // namespace

bool choose_edges(const View& view, int64_t n_rows, int most_bins, bool few, Column& column) {
  const std::vector<double> values = sample(view, n_rows);
  const bool narrow = exact_in_float(view.type);
  int64_t n_distinct = 0;
  for (size_t i = 0; i < values.size(); ++i) n_distinct += i == 0 || values[i] != values[i - 1];
  if (n_distinct <= most_bins && !few) return false;
  std::vector<double>& edges = column.edges;
  // A value that is alone needs two edges, so a first try may have too many; then the bins are made wider.
  for (size_t share = values.size() / most_bins + 1;; share += share / 8 + 1) {
    edges.clear();
    size_t in_bin = 0;
    for (size_t i = 0; i < values.size();) {
      size_t end = i;
      while (end < values.size() && values[end] == values[i]) ++end;
      const size_t size = end - i;
      const bool alone = size >= share && size > 1;
      if (alone && (edges.empty() || edges.back() < just_below(values[i], narrow)))
        edges.push_back(just_below(values[i], narrow));
      in_bin += size;
      if (alone || in_bin >= share) {
        edges.push_back(values[i]);
        in_bin = 0;
      }
      i = end;
    }
    if (static_cast<int>(edges.size()) < most_bins) break;
  }
  column.levels = static_cast<uint32_t>(edges.size()) + 1;
  column.single.assign(column.levels, 0);
  for (size_t b = 1; b < edges.size(); ++b) column.single[b] = just_below(edges[b], narrow) == edges[b - 1];
  column.store = Store::binned;
  column.codes8.resize(n_rows);
  return true;
}

Binner::Binner(const std::vector<const View*>& views, const std::vector<Column*>& columns)
    : views_(views), columns_(columns) {
  const auto fill = [](const std::vector<double>& edges, auto& table) {
    using T = std::remove_reference_t<decltype(table.fine[0])>;
    for (int i = 0; i < 256; ++i)
      table.fine[i] = i < static_cast<int>(edges.size()) ? static_cast<T>(edges[i]) : std::numeric_limits<T>::infinity();
    for (int i = 0; i < 16; ++i) table.coarse[i] = table.fine[16 * i + 15];
  };
  for (size_t j = 0; j < views.size(); ++j) {
    if (views[j]->type == Type::f32) fill(columns[j]->edges, narrow_.emplace_back());
    else fill(columns[j]->edges, wide_.emplace_back());
  }
}

void Binner::rows(int64_t begin, int64_t end, BinMarks& marks) const {
  for (int64_t from = begin; from < end; from += kTile) {
    const int64_t to = std::min(end, from + kTile);
    size_t narrow = 0, wide = 0;
    for (size_t j = 0; j < views_.size(); ++j) {
      if (views_[j]->type == Type::f32) column(narrow_[narrow++], static_cast<int64_t>(j), from, to, marks);
      else column(wide_[wide++], static_cast<int64_t>(j), from, to, marks);
    }
  }
}

template <class T>
void Binner::column(const Table<T>& table, int64_t j, int64_t begin, int64_t end, BinMarks& marks) const {
  alignas(64) T values[kTile];
  const View& view = *views_[j];
  const int64_t n = end - begin;
  if constexpr (std::is_same_v<T, float>) {
    for (int64_t i = 0; i < n; ++i) values[i] = view.at<float>(begin + i);
  } else {
    with_type(view.type, [&]<class From>() {
      for (int64_t i = 0; i < n; ++i) values[i] = static_cast<double>(view.at<From>(begin + i));
    });
  }
  const Seen seen = look_at(values, n);
  marks.missing[j] |= seen.missing;
  marks.infinite[j] |= seen.infinite;
  marks.wide[j] |= seen.wide;
  Column& out = *columns_[j];
  bin_values(table.coarse, table.fine, values, n, static_cast<uint8_t>(out.levels), out.codes8.data() + begin);
}

}  // namespace thetatree
