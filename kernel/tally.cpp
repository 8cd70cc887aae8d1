#include "tally.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "isa.h"
#include "parallel.h"

namespace thetatree {
namespace {

// Four words, which counters take at once where a row has as many.
typedef uint64_t Quad __attribute__((vector_size(32)));

inline bool any(const uint64_t& word) { return word != 0; }
inline bool any(const Quad& words) { return (words[0] | words[1] | words[2] | words[3]) != 0; }
inline uint64_t word_of(const uint64_t& word, int) { return word; }
inline uint64_t word_of(const Quad& words, int i) { return words[i]; }

// Counts set bits by position: carry-save adders turn sixteen rows into one carry, whose own counter
// has one word per binary digit, so a row costs about six instructions for 64 or 256 columns.
template <class Word>
class BitCounter {
 public:
  void add16(const Word* w) {
    Word twos[8], fours[4], eights[2], up;
    for (int i = 0; i < 8; ++i) carry(ones_, w[2 * i], w[2 * i + 1], twos[i]);
    for (int i = 0; i < 4; ++i) carry(twos_, twos[2 * i], twos[2 * i + 1], fours[i]);
    for (int i = 0; i < 2; ++i) carry(fours_, fours[2 * i], fours[2 * i + 1], eights[i]);
    carry(eights_, eights[0], eights[1], up);
    for (int i = 0; any(up); ++i) {
      const Word next = high_[i] & up;
      high_[i] ^= up;
      up = next;
      n_high_ = std::max(n_high_, i + 1);
    }
  }
  // Adds to the counts of 64 columns a word.
  void finish(uint32_t* counts) const {
    constexpr int kWords = sizeof(Word) / sizeof(uint64_t);
    for (int i = 0; i < kWords; ++i, counts += 64) {
      expand(word_of(ones_, i), 0, counts);
      expand(word_of(twos_, i), 1, counts);
      expand(word_of(fours_, i), 2, counts);
      expand(word_of(eights_, i), 3, counts);
      for (int digit = 0; digit < n_high_; ++digit) expand(word_of(high_[digit], i), digit + 4, counts);
    }
  }

 private:
  static constexpr int kHigh = 29;  // sixteens up to 2^32 rows
  static void carry(Word& sum, const Word& a, const Word& b, Word& up) {
    const Word half = sum ^ a;
    up = (sum & a) | (half & b);
    sum = half ^ b;
  }
  static void expand(uint64_t word, int shift, uint32_t* counts) {
    for (; word; word &= word - 1) counts[std::countr_zero(word)] += 1u << shift;
  }
  Word ones_{}, twos_{}, fours_{}, eights_{};
  Word high_[kHigh]{};
  int n_high_ = 0;
};

// Set bits of the words at `words` + row * width, for as many columns as Word has bits.
template <class Word>
THETATREE_CLONES void count_words(const uint64_t* words, int64_t width, const uint32_t* rows, int64_t n,
                                  uint32_t* counts) {
  constexpr int64_t kAhead = 32;
  BitCounter<Word> counter;
  Word block[16];
  for (int64_t i = 0; i < n; i += 16) {
    const int64_t some = std::min<int64_t>(16, n - i);
    if (i + kAhead + 16 <= n)
      for (int64_t j = 0; j < 16; ++j) __builtin_prefetch(words + rows[i + kAhead + j] * width);
    for (int64_t j = 0; j < some; ++j) std::memcpy(&block[j], words + rows[i + j] * width, sizeof(Word));
    for (int64_t j = some; j < 16; ++j) block[j] = Word{};
    counter.add16(block);
  }
  counter.finish(counts);
}
template void count_words<uint64_t>(const uint64_t*, int64_t, const uint32_t*, int64_t, uint32_t*);
template void count_words<Quad>(const uint64_t*, int64_t, const uint32_t*, int64_t, uint32_t*);

// Set bits of these rows, by slot.
void count_bits(const Columns& columns, const uint32_t* rows, int64_t n, uint32_t* counts) {
  const int64_t width = columns.words_per_row();
  int64_t w = 0;
  for (; w + 4 <= width; w += 4) count_words<Quad>(columns.words() + w, width, rows, n, counts + w * 64);
  for (; w < width; ++w) count_words<uint64_t>(columns.words() + w, width, rows, n, counts + w * 64);
}

void tally_packed_counts(const Columns& columns, const NodeRows& node, int n_threads,
                         std::vector<double>& tallies) {
  const int64_t slots = columns.words_per_row() * 64;
  const int stride = node.stride();
  const int64_t chunk = std::max<int64_t>(1 << 14, (node.n + 4 * n_threads - 1) / (4 * n_threads));
  for (int k = 0; k < node.n_classes; ++k) {
    const int64_t first = node.class_begin[k], n = node.class_begin[k + 1] - first;
    if (n == 0) continue;
    std::vector<uint32_t> counts(slots * std::max(1, n_threads));
    parallel_chunks(n_threads, n, chunk, [&](int64_t begin, int64_t end, int thread) {
      count_bits(columns, node.rows + first + begin, end - begin, counts.data() + thread * slots);
    });
    for (int t = 0; t < n_threads; ++t)
      for (int64_t s = 0; s < slots; ++s) {
        tallies[s * stride] += counts[t * slots + s];
        tallies[s * stride + 1 + k] += counts[t * slots + s];
      }
  }
}

}  // namespace

bool prefers_table(const Column& column, const NodeRows& node) {
  return column.levels <= 256 ? column.levels <= 16 * node.n : column.levels <= 2 * node.n;
}

void count_codes(const Column& column, const NodeRows& node, std::vector<uint32_t>& counts) {
  const int n_classes = node.n_classes;
  counts.assign(static_cast<size_t>(column.levels + 1) * n_classes, 0);
  with_code_type(column, [&](const auto* codes) {
    for (int k = 0; k < n_classes; ++k) {
      uint32_t* of_class = counts.data() + k;
      for (int64_t i = node.class_begin[k]; i < node.class_begin[k + 1]; ++i)
        ++of_class[static_cast<size_t>(codes[node.rows[i]]) * n_classes];
    }
  });
}

void sum_codes(const Column& column, const NodeRows& node, std::vector<double>& sums) {
  const int stride = node.stride();
  sums.assign(static_cast<size_t>(column.levels + 1) * stride, 0.0);
  with_code_type(column, [&](const auto* codes) {
    for_each_row(node, [&](int64_t i, int k) {
      node.add(i, k, sums.data() + static_cast<size_t>(codes[node.rows[i]]) * stride);
    });
  });
}

void sort_items(uint64_t* begin, uint64_t* end, uint32_t lowest, uint32_t highest, std::vector<uint64_t>& swap) {
  const int64_t n = end - begin;
  if (n < 512) {
    std::sort(begin, end);
    return;
  }
  const int bits = std::bit_width(highest - lowest);
  const int passes = (bits + 10) / 11;
  if (passes == 0) return;
  const int digit = (bits + passes - 1) / passes;
  const uint64_t base = static_cast<uint64_t>(lowest) << 32, mask = (1ULL << digit) - 1;
  if (static_cast<int64_t>(swap.size()) < n) swap.resize(n);
  uint64_t *from = begin, *to = swap.data();
  std::array<uint32_t, 2048> count;
  for (int pass = 0; pass < passes; ++pass, std::swap(from, to)) {
    poll();
    const int shift = 32 + pass * digit;
    count.fill(0);
    for (int64_t i = 0; i < n; ++i) ++count[(from[i] - base) >> shift & mask];
    uint32_t total = 0;
    for (uint64_t d = 0; d <= mask; ++d) total += std::exchange(count[d], total);
    for (int64_t i = 0; i < n; ++i) to[count[(from[i] - base) >> shift & mask]++] = from[i];
  }
  if (from != begin) std::copy_n(from, n, begin);
}

void sort_codes(const Column& column, const NodeRows& node, TallyScratch& scratch) {
  auto& sorted = scratch.sorted;
  sorted.resize(node.n);
  with_code_type(column, [&](const auto* codes) {
    for (int64_t i = 0; i < node.n; ++i)
      sorted[i] = static_cast<uint64_t>(codes[node.rows[i]]) << 32 | static_cast<uint64_t>(i);
  });
  sort_items(sorted.data(), sorted.data() + node.n, 0, column.levels, scratch.sorted_swap);
}

void tally_packed(const Columns& columns, const NodeRows& node, int n_threads,
                  std::vector<double>& tallies) {
  const int64_t width = columns.words_per_row();
  const int stride = node.stride();
  tallies.assign(width * 64 * stride, 0.0);
  if (node.measure == Measure::counts) {
    tally_packed_counts(columns, node, n_threads, tallies);
    return;
  }
  // Sums of doubles: a thread owns whole words, so that the order of addition never changes.
  parallel_for(n_threads, width, [&](int64_t w, int) {
    double* of_word = tallies.data() + w * 64 * stride;
    for_each_row(node, [&](int64_t i, int k) {
      for (uint64_t word = columns.words()[node.rows[i] * width + w]; word; word &= word - 1)
        node.add(i, k, of_word + std::countr_zero(word) * stride);
    });
  });
}

namespace {

// Calls body(column) for each entry of a row that is another number than zero, in a column of two values.
template <class Body>
void for_each_one(const SparseRows& s, uint32_t row, Body&& body) {
  const int32_t* const column = s.column.data();
  const int64_t end = s.start[row + 1];
  if (s.code.empty()) {
    for (int64_t e = s.start[row]; e < end; ++e) body(column[e]);
    return;
  }
  for (int64_t e = s.start[row]; e < end; ++e)
    if (s.two_valued[column[e]] && s.code[e] != s.zero_code[column[e]]) body(column[e]);
}

}  // namespace

void tally_ones(const Columns& columns, const NodeRows& node, int n_threads, std::vector<double>& tallies) {
  const SparseRows& s = columns.sparse();
  const int stride = node.stride();
  const int64_t n_columns = s.n_columns();
  tallies.assign(n_columns * stride, 0.0);
  if (node.measure != Measure::counts) {
    for_each_row(node, [&](int64_t i, int k) {
      for_each_one(s, node.rows[i], [&](int32_t column) {
        node.add(i, k, tallies.data() + static_cast<int64_t>(column) * stride);
      });
    });
    return;
  }
  const int64_t chunk = std::max<int64_t>(1 << 12, (node.n + 8 * n_threads - 1) / (8 * n_threads));
  for (int k = 0; k < node.n_classes; ++k) {
    const int64_t first = node.class_begin[k], n = node.class_begin[k + 1] - first;
    if (n == 0) continue;
    std::vector<uint32_t> counts(n_columns * std::max(1, n_threads));
    parallel_chunks(n_threads, n, chunk, [&](int64_t begin, int64_t end, int thread) {
      uint32_t* const own = counts.data() + thread * n_columns;
      for (int64_t i = first + begin; i < first + end; ++i)
        for_each_one(s, node.rows[i], [&](int32_t column) { ++own[column]; });
    });
    for (int t = 0; t < n_threads; ++t)
      for (int64_t j = 0; j < n_columns; ++j) {
        tallies[j * stride] += counts[t * n_columns + j];
        tallies[j * stride + 1 + k] += counts[t * n_columns + j];
      }
  }
}

void tally_sparse(const Columns& columns, const NodeRows& node, bool but_two_valued, SparseTally& out) {
  const SparseRows& s = columns.sparse();
  out.count.resize(s.n_columns());
  for (const int32_t column : out.touched) out.count[column] = 0;
  out.touched.clear();
  out.begin.assign(1, 0);
  if (but_two_valued && s.all_two_valued) return;
  const auto left_out = [&](int32_t column) { return but_two_valued && s.two_valued[column]; };
  for (int64_t i = 0; i < node.n; ++i)
    for (int64_t e = s.start[node.rows[i]]; e < s.start[node.rows[i] + 1]; ++e)
      if (!left_out(s.column[e]) && out.count[s.column[e]]++ == 0) out.touched.push_back(s.column[e]);
  std::sort(out.touched.begin(), out.touched.end());
  for (const int32_t column : out.touched) out.begin.push_back(out.begin.back() + out.count[column]);
  out.entries.resize(out.begin.back());
  for (size_t t = 0; t < out.touched.size(); ++t)
    out.count[out.touched[t]] = static_cast<int32_t>(out.begin[t]);
  for (int64_t i = 0; i < node.n; ++i)
    for (int64_t e = s.start[node.rows[i]]; e < s.start[node.rows[i] + 1]; ++e)
      if (!left_out(s.column[e]))
        out.entries[out.count[s.column[e]]++] =
            static_cast<uint64_t>(s.code_of(e)) << 32 | static_cast<uint64_t>(i);
  for (size_t t = 0; t < out.touched.size(); ++t) {
    const auto begin = out.entries.begin() + out.begin[t], end = out.entries.begin() + out.begin[t + 1];
    if (!std::is_sorted(begin, end)) std::sort(begin, end);  // a column of ones comes in order
  }
}

}  // namespace thetatree
