#include "bit_columns.h"

#include <algorithm>
#include <array>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define THETATREE_AVX512 __attribute__((target("avx512f,avx512bw")))
#endif

namespace thetatree {
namespace {

constexpr int64_t kByteFull = 255;  // so many rows fit counters of a byte

// The eight bits of a byte, each in a byte of its own.
constexpr std::array<uint64_t, 256> spread_bytes() {
  std::array<uint64_t, 256> out{};
  for (uint64_t byte = 0; byte < 256; ++byte)
    for (int bit = 0; bit < 8; ++bit) out[byte] |= (byte >> bit & 1) << (8 * bit);
  return out;
}
constexpr std::array<uint64_t, 256> kSpread = spread_bytes();

void add_bits_plain(const uint64_t* rows, int64_t n_words, const uint32_t* keys, int64_t n, int32_t* counts) {
  for (int64_t w = 0; w < n_words; ++w) {
    for (int64_t from = 0; from < n; from += kByteFull) {
      uint64_t sums[8] = {};
      for (int64_t i = from; i < std::min(n, from + kByteFull); ++i) {
        const uint64_t word = rows[keys[i] * n_words + w];
        for (int byte = 0; byte < 8; ++byte) sums[byte] += kSpread[word >> (8 * byte) & 0xff];
      }
      for (int bit = 0; bit < 64; ++bit)
        counts[64 * w + bit] += static_cast<int32_t>(sums[bit / 8] >> (8 * (bit % 8)) & 0xff);
    }
  }
}

#ifdef THETATREE_AVX512

// A row's word is a mask over 64 byte counters: one instruction a word and row.
template <int kWords>
THETATREE_AVX512 void add_words(const uint64_t* rows, int64_t n_words, const uint32_t* keys, int64_t n,
                                int32_t* counts) {
  const __m512i minus_one = _mm512_set1_epi8(-1);
  for (int64_t from = 0; from < n; from += kByteFull) {
    __m512i sums[kWords];
    for (auto& sum : sums) sum = _mm512_setzero_si512();
    for (int64_t i = from; i < std::min(n, from + kByteFull); ++i) {
      const uint64_t* row = rows + keys[i] * n_words;
      for (int w = 0; w < kWords; ++w) sums[w] = _mm512_mask_sub_epi8(sums[w], row[w], sums[w], minus_one);
    }
    for (int w = 0; w < kWords; ++w) {
      uint8_t bytes[64];
      std::memcpy(bytes, &sums[w], 64);
      for (int bit = 0; bit < 64; ++bit) counts[64 * w + bit] += bytes[bit];
    }
  }
}

THETATREE_AVX512 void add_bits_wide(const uint64_t* rows, int64_t n_words, const uint32_t* keys, int64_t n,
                                    int32_t* counts) {
  int64_t w = 0;
  for (; w + 8 <= n_words; w += 8) add_words<8>(rows + w, n_words, keys, n, counts + 64 * w);
  for (; w + 4 <= n_words; w += 4) add_words<4>(rows + w, n_words, keys, n, counts + 64 * w);
  for (; w < n_words; ++w) add_words<1>(rows + w, n_words, keys, n, counts + 64 * w);
}

#endif

}  // namespace

void add_bits(const uint64_t* rows, int64_t n_words, const uint32_t* keys, int64_t n, int32_t* counts) {
#ifdef THETATREE_AVX512
  static const bool wide = __builtin_cpu_supports("avx512bw");
  if (wide) return add_bits_wide(rows, n_words, keys, n, counts);
#endif
  add_bits_plain(rows, n_words, keys, n, counts);
}

}  // namespace thetatree
