#include "columns.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "bins.h"
#include "isa.h"
#include "pack.h"
#include "parallel.h"
#include "rank.h"

namespace thetatree {
namespace {

constexpr int64_t kSampleRows = 128;  // looked at before a column is taken for a binary one
constexpr int64_t kPackRows = 1 << 12;
constexpr int64_t kFewEntries = 64;   // of a sparse row: compared with one after the other
constexpr int64_t kGroup = 8;         // columns gathered together: a cache line of float64

template <class T>
THETATREE_CLONES bool infinite_among(const T* values, int64_t n) {
  int infinite = 0;
  for (int64_t i = 0; i < n; ++i) {
    T value;  // copied, since a caller's array need not be aligned
    std::memcpy(&value, reinterpret_cast<const char*>(values) + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    infinite |= std::fabs(value) > std::numeric_limits<T>::max();
  }
  return infinite != 0;
}

template bool infinite_among<float>(const float*, int64_t);
template bool infinite_among<double>(const double*, int64_t);

// How many columns from this one on stand side by side in memory and are aligned, as in a C-ordered matrix; 0 where not
// even the first is aligned.
int64_t n_adjacent(const std::vector<View>& views, const std::vector<int64_t>& features, int64_t from) {
  const View& first = views[features[from]];
  const int64_t size = size_of(first.type);
  if (reinterpret_cast<uintptr_t>(first.data) % size != 0 || first.stride % size != 0) return 0;
  int64_t n = 1;
  for (; from + n < static_cast<int64_t>(features.size()); ++n) {
    const View& view = views[features[from + n]];
    if (view.type != first.type || view.stride != first.stride || view.data != first.data + n * size) break;
  }
  return n;
}

// Up to 64 columns that stand apart, as one word a row.
void pack_apart(const std::vector<View>& views, const std::vector<int64_t>& features, int64_t from, int64_t n,
                int64_t begin, int64_t end, uint64_t* out, int64_t width, uint64_t& other) {
  for (int64_t i = begin; i < end; ++i) out[i * width] = 0;
  for (int64_t j = 0; j < n; ++j) {
    const View& view = views[features[from + j]];
    with_type(view.type, [&]<class T>() {
      bool strange = false;
      for (int64_t i = begin; i < end; ++i) {
        const T value = view.at<T>(i);
        out[i * width] |= static_cast<uint64_t>(value == T(1)) << j;
        strange |= (value != T(0)) & (value != T(1));
      }
      other |= static_cast<uint64_t>(strange) << j;
    });
  }
}

// Whether all entries are the same finite number.
bool holds_one_value(const View& values, int64_t n) {
  const double first = values.number(0);
  if (!std::isfinite(first)) return false;
  return with_type(values.type, [&]<class T>() {
    const T one = values.at<T>(0);
    for (int64_t i = 1; i < n; ++i)
      if (values.at<T>(i) != one) return false;
    return true;
  });
}

bool looks_binary(const View& view, int64_t n_rows) {
  const int64_t n = std::min(n_rows, kSampleRows);
  const int64_t step = std::max<int64_t>(1, n_rows / kSampleRows);
  for (int64_t i = 0; i < n; ++i) {
    const double value = view.number(i * step);
    if (value != 0.0 && value != 1.0) return false;
  }
  return true;
}

// Values of up to kGroup columns, column by column.
void gather(const std::vector<View>& views, const std::vector<int64_t>& features, int64_t from,
            int64_t n_columns, int64_t n_rows, std::vector<double>& values) {
  values.resize(n_columns * n_rows);
  constexpr int64_t kBlock = 512;
  for (int64_t begin = 0; begin < n_rows; begin += kBlock) {
    poll_at(begin);
    const int64_t end = std::min(n_rows, begin + kBlock);
    for (int64_t j = 0; j < n_columns; ++j) {
      const View& view = views[features[from + j]];
      double* out = values.data() + j * n_rows;
      with_type(view.type, [&]<class T>() {
        for (int64_t i = begin; i < end; ++i) out[i] = static_cast<double>(view.at<T>(i));
      });
    }
  }
}

bool fits_float32(Type type) {
  return type == Type::f32 || type == Type::i8 || type == Type::u8 || type == Type::i16 ||
         type == Type::u16;
}

}  // namespace

void Columns::add_numbers(const std::vector<View>& views) {
  const int64_t base = n_features();
  const int64_t n = static_cast<int64_t>(views.size());
  std::vector<char> is_binary(n);
  parallel_for(n_rows_ * n > 100000 ? n_threads_ : 1, n,
               [&](int64_t j, int) { is_binary[j] = n_rows_ > 0 && looks_binary(views[j], n_rows_); });
  columns_.resize(base + n);
  std::vector<int64_t> binary, general;
  for (int64_t j = 0; j < n; ++j) {
    columns_[base + j].raw = views[j];
    if (is_binary[j]) binary.push_back(j);
  }
  if (!binary.empty()) pack(binary, views, is_binary);
  for (int64_t j = 0; j < n; ++j)
    if (!is_binary[j]) general.push_back(j);
  if (most_bins_ > 0) bin_numbers(general, views);
  else rank_numbers(general, views);
}

// Packs the named columns (features counted from the first view); one that turns out not to be binary
// loses its mark and its bit.
void Columns::pack(const std::vector<int64_t>& features, const std::vector<View>& views,
                   std::vector<char>& is_binary) {
  const int64_t base = n_features() - static_cast<int64_t>(views.size());
  const int64_t n = static_cast<int64_t>(features.size());
  const int64_t first_word = words_per_row_;
  const int64_t new_words = (n + 63) / 64;
  const int64_t width = first_word + new_words;
  Unwritten<uint64_t> words;
  words.resize(n_rows_ * width);
  const int64_t old_width = words_per_row_;
  const bool side_by_side = n_adjacent(views, features, 0) == n;
  const View& first = views[features[0]];
  std::vector<std::vector<uint64_t>> others(std::max(1, n_threads_), std::vector<uint64_t>(new_words));
  parallel_chunks(n_threads_, n_rows_, kPackRows, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t i = begin; i < end; ++i)
      std::copy_n(words_.data() + i * old_width, old_width, words.data() + i * width);
    uint64_t* const out = words.data() + first_word;
    if (side_by_side)
      return pack_rows(first.type, first.data, first.stride, begin, end, n, out, width, others[thread].data());
    for (int64_t w = 0; w < new_words; ++w)
      pack_apart(views, features, w * 64, std::min<int64_t>(64, n - w * 64), begin, end, out + w, width,
                 others[thread][w]);
  });
  words_ = std::move(words);
  words_per_row_ = width;
  slot_feature_.resize(width * 64, -1);
  for (int64_t j = 0; j < n; ++j) {
    bool good = true;
    for (const auto& other : others) good = good && !(other[j / 64] >> (j % 64) & 1);
    is_binary[features[j]] = good;
    if (!good) continue;
    Column& column = columns_[base + features[j]];
    column.store = Store::packed;
    column.levels = 2;
    column.slot = static_cast<int32_t>(first_word * 64 + j);
    slot_feature_[column.slot] = static_cast<int32_t>(base + features[j]);
  }
}

void Columns::rank_numbers(const std::vector<int64_t>& features, const std::vector<View>& views) {
  const int64_t base = n_features() - static_cast<int64_t>(views.size());
  const int64_t n = static_cast<int64_t>(features.size());
  const int64_t n_groups = (n + kGroup - 1) / kGroup;
  const int n_threads = n_rows_ * n > 20000 ? n_threads_ : 1;
  std::vector<RankScratch> scratch(std::max(1, n_threads));
  std::vector<std::vector<double>> values(std::max(1, n_threads));
  std::vector<char> infinite(n);
  parallel_for(n_threads, n_groups, [&](int64_t group, int thread) {
    const int64_t from = group * kGroup, count = std::min(kGroup, n - from);
    gather(views, features, from, count, n_rows_, values[thread]);
    for (int64_t j = 0; j < count; ++j) {
      const int64_t feature = features[from + j];
      infinite[from + j] = infinite_among(values[thread].data() + j * n_rows_, n_rows_);
      rank_values(values[thread].data() + j * n_rows_, n_rows_, fits_float32(views[feature].type),
                  columns_[base + feature], scratch[thread]);
    }
  });
  note_infinite(infinite, features, base);
}

// Codes a column of at most most_bins_ values exactly; false where it has more.
bool Columns::code_few(const View& view, Column& column, char& infinite) const {
  std::vector<double> values;
  gather({view}, {0}, 0, 1, n_rows_, values);
  if (!rank_few(values.data(), n_rows_, most_bins_, column)) return false;
  infinite = infinite_among(values.data(), n_rows_);
  return true;
}

void Columns::bin_numbers(const std::vector<int64_t>& features, const std::vector<View>& views) {
  const int64_t base = n_features() - static_cast<int64_t>(views.size());
  const int64_t n = static_cast<int64_t>(features.size());
  const int n_threads = n_rows_ * n > 20000 ? n_threads_ : 1;
  std::vector<char> infinite(n);
  parallel_for(n_threads, n, [&](int64_t j, int) {
    const View& view = views[features[j]];
    Column& column = columns_[base + features[j]];
    if (!choose_edges(view, n_rows_, most_bins_, false, column) && !code_few(view, column, infinite[j]))
      choose_edges(view, n_rows_, most_bins_, true, column);
  });
  std::vector<const View*> of_binned;
  std::vector<Column*> binned;
  std::vector<int64_t> which;
  for (int64_t j = 0; j < n; ++j) {
    Column& column = columns_[base + features[j]];
    if (column.store != Store::binned) continue;
    of_binned.push_back(&views[features[j]]);
    binned.push_back(&column);
    which.push_back(j);
  }
  const Binner binner(of_binned, binned);
  std::vector<BinMarks> marks(std::max(1, n_threads), BinMarks(static_cast<int64_t>(binned.size())));
  parallel_chunks(n_threads, binned.empty() ? 0 : n_rows_, 1 << 13,
                  [&](int64_t begin, int64_t end, int thread) { binner.rows(begin, end, marks[thread]); });
  for (size_t j = 0; j < binned.size(); ++j) {
    binned[j]->narrow = true;
    for (const BinMarks& of_thread : marks) {
      binned[j]->has_missing |= of_thread.missing[j] != 0;
      binned[j]->narrow &= !of_thread.wide[j];
      infinite[which[j]] |= of_thread.infinite[j];
    }
  }
  note_infinite(infinite, features, base);
}

void Columns::note_infinite(const std::vector<char>& infinite, const std::vector<int64_t>& features, int64_t base) {
  const auto found = std::find(infinite.begin(), infinite.end(), 1);
  if (found != infinite.end() && first_infinite_ < 0) first_infinite_ = base + features[found - infinite.begin()];
}

void Columns::add_flags(const std::vector<View>& views) {
  const int64_t base = n_features();
  const int64_t n = static_cast<int64_t>(views.size());
  columns_.resize(base + n);
  std::vector<int64_t> all(n);
  for (int64_t j = 0; j < n; ++j) {
    all[j] = j;
    columns_[base + j].kind = Kind::flag;
  }
  std::vector<char> is_binary(n, 1);
  pack(all, views, is_binary);
  for (int64_t j = 0; j < n; ++j) {
    if (is_binary[j]) continue;
    Column& column = columns_[base + j];
    column.store = Store::u8;
    column.levels = 2;
    column.has_missing = true;
    column.codes8.resize(n_rows_);
    for (int64_t i = 0; i < n_rows_; ++i) {
      poll_at(i);
      const int8_t value = views[j].at<int8_t>(i);
      column.codes8[i] = value < 0 ? 2 : static_cast<uint8_t>(value != 0);
    }
  }
}

void Columns::add_category(View codes, uint32_t levels) {
  Column& column = columns_.emplace_back();
  column.kind = Kind::category;
  column.levels = levels;
  column.store = levels <= 0xff ? Store::u8 : levels <= 0xffff ? Store::u16 : Store::u32;
  auto fill = [&](auto& out) {
    using Code = typename std::remove_reference_t<decltype(out)>::value_type;
    out.resize(n_rows_);
    std::atomic<bool> missing = false;
    parallel_chunks(n_threads_, n_rows_, 1 << 16, [&](int64_t begin, int64_t end, int) {
      bool some = false;
      for (int64_t i = begin; i < end; ++i) {
        const int32_t code = codes.at<int32_t>(i);
        if (code >= static_cast<int64_t>(levels)) throw std::invalid_argument("category code out of range");
        some |= code < 0;
        out[i] = static_cast<Code>(code < 0 ? levels : static_cast<uint32_t>(code));
      }
      if (some) missing = true;
    });
    column.has_missing = missing;
  };
  if (column.store == Store::u8) fill(column.codes8);
  else if (column.store == Store::u16) fill(column.codes16);
  else fill(column.codes32);
}

void Columns::add_sparse(int64_t n_columns, const int64_t* start, const int32_t* column, View values) {
  if (!sparse_.zero_code.empty()) throw std::invalid_argument("one sparse matrix only");
  const int64_t n_entries = start[n_rows_];
  SparseRows& s = sparse_;
  s.start.assign(start, start + n_rows_ + 1);
  s.column.assign(column, column + n_entries);
  std::vector<int64_t> begin(n_columns + 1);
  for (int64_t i = 0; i < n_entries; ++i) ++begin[column[i] + 1];
  for (int64_t j = 0; j < n_columns; ++j) begin[j + 1] += begin[j];
  s.value_start.assign(1, 0);
  s.zero_code.resize(n_columns);
  const int64_t base = n_features();
  columns_.resize(base + n_columns);
  sparse_feature_.resize(n_columns);
  for (int64_t j = 0; j < n_columns; ++j) {
    Column& out = columns_[base + j];
    out.store = Store::sparse;
    out.slot = static_cast<int32_t>(j);
    sparse_feature_[j] = static_cast<int32_t>(base + j);
  }
  if (n_entries > 0 && holds_one_value(values, n_entries)) code_one_value(values.number(0), begin, base);
  else code_entries(column, values, std::move(begin), base);
  s.two_valued.resize(n_columns);
  s.all_two_valued = true;
  for (int64_t j = 0; j < n_columns; ++j) {
    const Column& out = columns_[base + j];
    s.two_valued[j] = out.levels == 2 && !out.has_missing;
    s.all_two_valued &= s.two_valued[j] || (out.levels < 2 && !out.has_missing);
  }
}

// A matrix of ones, or of any one number: what is held has one code, what is not the other.
void Columns::code_one_value(double value, const std::vector<int64_t>& begin, int64_t base) {
  SparseRows& s = sparse_;
  s.one_code = value > 0 ? 1 : 0;
  for (size_t j = 0; j < s.zero_code.size(); ++j) {
    const bool held = value != 0 && begin[j + 1] > begin[j];
    if (held && value < 0) s.values.push_back(value);
    s.values.push_back(0.0);
    if (held && value > 0) s.values.push_back(value);
    s.zero_code[j] = held && value < 0 ? 1 : 0;
    s.value_start.push_back(static_cast<int64_t>(s.values.size()));
    columns_[base + static_cast<int64_t>(j)].levels = held ? 2 : 1;
  }
}

void Columns::code_entries(const int32_t* column, View values, std::vector<int64_t> begin, int64_t base) {
  SparseRows& s = sparse_;
  const int64_t n_entries = s.n_entries();
  s.code.resize(n_entries);
  std::vector<int64_t> order(n_entries), at(begin.begin(), begin.end() - 1);
  for (int64_t i = 0; i < n_entries; ++i) {
    poll_at(i);
    order[at[column[i]]++] = i;
  }
  std::vector<double> distinct;
  for (size_t j = 0; j < s.zero_code.size(); ++j) {
    distinct.assign(1, 0.0);
    bool missing = false;
    for (int64_t e = begin[j]; e < begin[j + 1]; ++e) {
      const double value = values.number(order[e]);
      if (std::isinf(value) && first_infinite_ < 0) first_infinite_ = base + static_cast<int64_t>(j);
      if (std::isnan(value)) missing = true;
      else if (value != distinct.back()) distinct.push_back(value == 0.0 ? 0.0 : value);
    }
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    const auto rank = [&](double value) {
      return static_cast<uint32_t>(std::lower_bound(distinct.begin(), distinct.end(), value) - distinct.begin());
    };
    for (int64_t e = begin[j]; e < begin[j + 1]; ++e) {
      const double value = values.number(order[e]);
      s.code[order[e]] = std::isnan(value) ? static_cast<uint32_t>(distinct.size()) : rank(value);
    }
    s.zero_code[j] = rank(0.0);
    s.values.insert(s.values.end(), distinct.begin(), distinct.end());
    s.value_start.push_back(static_cast<int64_t>(s.values.size()));
    Column& out = columns_[base + static_cast<int64_t>(j)];
    out.levels = static_cast<uint32_t>(distinct.size());
    out.has_missing = missing;
  }
}

bool Columns::any_missing() const {
  return std::any_of(columns_.begin(), columns_.end(), [](const Column& c) { return c.has_missing; });
}

uint32_t Columns::code(int64_t feature, int64_t row) const {
  const Column& c = columns_[feature];
  switch (c.store) {
    case Store::packed: return bit(c.slot, row);
    case Store::u8:
    case Store::binned: return c.codes8[row];
    case Store::u16: return c.codes16[row];
    case Store::u32: return c.codes32[row];
    case Store::sparse: break;
  }
  const int32_t* begin = sparse_.column.data() + sparse_.start[row];
  const int32_t* end = sparse_.column.data() + sparse_.start[row + 1];
  const int32_t* found = begin;
  if (end - begin <= kFewEntries)
    for (const int32_t* entry = begin; entry < end; ++entry) found += *entry < c.slot;  // no branch to foretell
  else found = std::lower_bound(begin, end, c.slot);
  if (found == end || *found != c.slot) return sparse_.zero_code[c.slot];
  return sparse_.code_of(found - sparse_.column.data());
}

double Columns::value(int64_t feature, uint32_t code, int64_t row) const {
  const Column& c = columns_[feature];
  if (c.store == Store::packed) return static_cast<double>(code);
  if (c.store == Store::sparse) return sparse_.values[sparse_.value_start[c.slot] + code];
  return c.raw.number(row);
}

template <class T>
bool any_infinite(const T* values, int64_t n, int n_threads) {
  const int64_t chunk = 1 << 16;
  std::vector<char> found((n + chunk - 1) / chunk + 1);
  parallel_chunks(n > (1 << 20) ? n_threads : 1, n, chunk, [&](int64_t begin, int64_t end, int) {
    found[begin / chunk] = infinite_among(values + begin, end - begin);
  });
  return std::find(found.begin(), found.end(), 1) != found.end();
}

template bool any_infinite<float>(const float*, int64_t, int);
template bool any_infinite<double>(const double*, int64_t, int);

}  // namespace thetatree
