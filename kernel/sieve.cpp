#include "sieve.h"

#include <algorithm>
#include <cstring>

#include "byte_order.h"
#include "isa.h"

#if defined(__x86_64__) && defined(__GNUC__) && THETATREE_ISA >= 4
#include <immintrin.h>
#define THETATREE_AVX512 __attribute__((target("avx512f,avx512bw")))
#endif

namespace thetatree {
namespace {

// Eight bytes of 0 or 1 to eight bits, the first the lowest.
inline std::uint64_t packed(std::uint64_t eight) { return eight * 0x0102040810204080ULL >> 56; }

template <class Passes>
void sift_plain(std::size_t n, const Passes& passes, std::uint64_t* words) {
  std::uint8_t some[64];
  for (std::size_t from = 0; from < n; from += 64) {
    const std::size_t count = std::min<std::size_t>(64, n - from);
    std::memset(some, 0, 64);
    for (std::size_t i = 0; i < count; ++i) some[i] = passes(from + i);
    std::uint64_t word = 0;
    for (std::size_t byte = 0; byte < 8; ++byte) word |= packed(load_little64(some + 8 * byte)) << (8 * byte);
    words[from / 64] = word;
  }
}

// 64 bits from a position on; 0 beyond the end.
inline std::uint64_t word_at(const Bits& bits, std::size_t position) {
  const std::size_t byte = position / 8, shift = position % 8;
  if (byte + 9 <= bits.size) {
    const std::uint64_t low = load_little64(bits.bytes + byte) >> shift;
    return shift == 0 ? low : low | static_cast<std::uint64_t>(bits.bytes[byte + 8]) << (64 - shift);
  }
  std::uint8_t last[16] = {};
  if (byte < bits.size) std::memcpy(last, bits.bytes + byte, bits.size - byte);
  const std::uint64_t low = load_little64(last) >> shift;
  return shift == 0 ? low : low | static_cast<std::uint64_t>(last[8]) << (64 - shift);
}

void sift_bytes_plain(const std::uint8_t* flags, const std::uint8_t* levels, std::size_t n, std::uint8_t low,
                      std::uint8_t width, std::uint8_t least, std::uint64_t* words) {
  sift_plain(n, [&](std::size_t i) {
    return static_cast<std::uint8_t>((static_cast<std::uint8_t>(flags[i] - low) <= width) & (levels[i] >= least));
  }, words);
}

#ifdef THETATREE_AVX512

THETATREE_AVX512 void sift_bytes_wide(const std::uint8_t* flags, const std::uint8_t* levels, std::size_t n,
                                      std::uint8_t low, std::uint8_t width, std::uint8_t least, std::uint64_t* words) {
  const __m512i lows = _mm512_set1_epi8(static_cast<char>(low)), widths = _mm512_set1_epi8(static_cast<char>(width));
  const __m512i leasts = _mm512_set1_epi8(static_cast<char>(least));
  for (std::size_t from = 0; from < n; from += 64) {
    const __mmask64 inside = n - from < 64 ? (1ULL << (n - from)) - 1 : ~0ULL;
    const __m512i flag = _mm512_sub_epi8(_mm512_maskz_loadu_epi8(inside, flags + from), lows);
    const __m512i level = _mm512_maskz_loadu_epi8(inside, levels + from);
    words[from / 64] = _mm512_mask_cmpge_epu8_mask(_mm512_mask_cmple_epu8_mask(inside, flag, widths), level, leasts);
  }
}

THETATREE_AVX512 void levels_wide(const std::uint8_t* levels, std::size_t n, std::uint8_t least,
                                  std::uint64_t* words) {
  const __m512i leasts = _mm512_set1_epi8(static_cast<char>(least));
  for (std::size_t from = 0; from < n; from += 64) {
    const __mmask64 inside = n - from < 64 ? (1ULL << (n - from)) - 1 : ~0ULL;
    words[from / 64] =
        _mm512_mask_cmpge_epu8_mask(inside, _mm512_maskz_loadu_epi8(inside, levels + from), leasts);
  }
}

bool wide() {
  static const bool has = __builtin_cpu_supports("avx512bw");
  return has;
}

#endif

}  // namespace

void levels_of(const std::uint64_t* hashes, std::size_t n, std::uint8_t* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = level_of(hashes[i]);
}

void sift_bytes(const std::uint8_t* flags, const std::uint8_t* levels, std::size_t n, std::uint8_t low,
                std::uint8_t high, std::uint8_t least, std::uint64_t* words) {
  const auto width = static_cast<std::uint8_t>(high - low);
#ifdef THETATREE_AVX512
  if (wide()) return sift_bytes_wide(flags, levels, n, low, width, least, words);
#endif
  sift_bytes_plain(flags, levels, n, low, width, least, words);
}

void sift_bits(const Bits& bits, const std::uint8_t* levels, std::size_t n, std::uint8_t least, std::uint64_t* words) {
  const auto levels_to = [&] {
#ifdef THETATREE_AVX512
    if (wide()) return levels_wide(levels, n, least, words);
#endif
    sift_plain(n, [&](std::size_t i) { return static_cast<std::uint8_t>(levels[i] >= least); }, words);
  };
  levels_to();
  for (std::size_t from = 0; from < n; from += 64) words[from / 64] &= word_at(bits, bits.offset + from);
}

}  // namespace thetatree
