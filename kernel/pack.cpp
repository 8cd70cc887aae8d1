#include "pack.h"

#include <algorithm>
#include <cstring>

#include "isa.h"

#if THETATREE_X86_64_V4
#include <immintrin.h>
#endif

namespace thetatree {
namespace {

// Eight bytes of 0 or 1 become eight bits, the first byte the lowest bit.
uint64_t eight_bits(const uint8_t* bytes) {
  uint64_t eight;
  std::memcpy(&eight, bytes, 8);
  return (eight * 0x0102040810204080ULL) >> 56;
}

uint64_t pack_word(const uint8_t* bytes) {
  uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word |= eight_bits(bytes + 8 * i) << (8 * i);
  return word;
}

// One row of up to 64 values, as bytes.
template <class T>
THETATREE_CLONES void read_adjacent(const T* values, int64_t n, uint8_t* ones, uint8_t* other) {
  for (int64_t j = 0; j < n; ++j) {
    ones[j] = values[j] == T(1);
    other[j] = (values[j] != T(0)) & (values[j] != T(1));
  }
}

#define THETATREE_INSTANCE(T) template void read_adjacent<T>(const T*, int64_t, uint8_t*, uint8_t*);
THETATREE_INSTANCE(float)
THETATREE_INSTANCE(double)
THETATREE_INSTANCE(int8_t)
THETATREE_INSTANCE(uint8_t)
THETATREE_INSTANCE(int16_t)
THETATREE_INSTANCE(uint16_t)
THETATREE_INSTANCE(int32_t)
THETATREE_INSTANCE(uint32_t)
THETATREE_INSTANCE(int64_t)
THETATREE_INSTANCE(uint64_t)
#undef THETATREE_INSTANCE

template <class T>
void pack_plainly(const char* data, int64_t stride, int64_t begin, int64_t end, int64_t n, uint64_t* out,
                  int64_t width, uint64_t* other) {
  alignas(64) uint8_t ones[64]{}, others[64]{};
  for (int64_t row = begin; row < end; ++row) {
    const T* values = reinterpret_cast<const T*>(data + row * stride);
    for (int64_t w = 0; w * 64 < n; ++w) {
      const int64_t count = std::min<int64_t>(64, n - w * 64);
      if (count < 64) std::memset(ones, 0, 64), std::memset(others, 0, 64);
      read_adjacent(values + w * 64, count, ones, others);
      out[row * width + w] = pack_word(ones);
      other[w] |= pack_word(others);
    }
  }
}

#if THETATREE_X86_64_V4
#define THETATREE_V4 __attribute__((target("arch=x86-64-v4")))

// Sixteen floats, or 64 bytes: a comparison with 1 and one with 0 give the bits. Lanes that are not asked for are 0.
THETATREE_V4 inline void compare(const float* values, uint64_t lanes, uint64_t& ones, uint64_t& other) {
  const __m512 v = _mm512_maskz_loadu_ps(static_cast<__mmask16>(lanes), values);
  const __mmask16 one = _mm512_cmp_ps_mask(v, _mm512_set1_ps(1.0f), _CMP_EQ_OQ);
  ones = one;
  other = static_cast<__mmask16>(~(one | _mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_EQ_OQ)));
}
THETATREE_V4 inline void compare(const double* values, uint64_t lanes, uint64_t& ones, uint64_t& other) {
  const __m512d v = _mm512_maskz_loadu_pd(static_cast<__mmask8>(lanes), values);
  const __mmask8 one = _mm512_cmp_pd_mask(v, _mm512_set1_pd(1.0), _CMP_EQ_OQ);
  ones = one;
  other = static_cast<__mmask8>(~(one | _mm512_cmp_pd_mask(v, _mm512_setzero_pd(), _CMP_EQ_OQ)));
}
THETATREE_V4 inline void compare(const uint8_t* values, uint64_t lanes, uint64_t& ones, uint64_t& other) {
  const __m512i v = _mm512_maskz_loadu_epi8(lanes, values);
  ones = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(1));
  other = ~(ones | _mm512_cmpeq_epi8_mask(v, _mm512_setzero_si512()));
}

template <class T>
THETATREE_V4 void pack_by_masks(const char* data, int64_t stride, int64_t begin, int64_t end, int64_t n,
                                uint64_t* out, int64_t width, uint64_t* other) {
  constexpr int64_t kAtOnce = 64 / static_cast<int64_t>(sizeof(T));
  constexpr uint64_t kAll = kAtOnce == 64 ? ~0ULL : (1ULL << (kAtOnce % 64)) - 1;
  for (int64_t row = begin; row < end; ++row) {
    const T* values = reinterpret_cast<const T*>(data + row * stride);
    for (int64_t w = 0; w * 64 < n; ++w) {
      uint64_t word = 0, strange = 0;
      for (int64_t j = 0; j < 64; j += kAtOnce) {
        const int64_t left = n - w * 64 - j;
        if (left <= 0) break;
        uint64_t ones, others;
        compare(values + w * 64 + j, left >= kAtOnce ? kAll : kAll >> (kAtOnce - left), ones, others);
        word |= ones << j;
        strange |= others << j;
      }
      out[row * width + w] = word;
      other[w] |= strange;
    }
  }
}
#undef THETATREE_V4
#endif

}  // namespace

void pack_rows(Type type, const char* data, int64_t stride, int64_t begin, int64_t end, int64_t n, uint64_t* out,
               int64_t width, uint64_t* other) {
#if THETATREE_X86_64_V4
  if (has_x86_64_v4()) {
    if (type == Type::f32) return pack_by_masks<float>(data, stride, begin, end, n, out, width, other);
    if (type == Type::f64) return pack_by_masks<double>(data, stride, begin, end, n, out, width, other);
    // A negative one is neither 0 nor 1, whether its byte is read with a sign or without.
    if (size_of(type) == 1) return pack_by_masks<uint8_t>(data, stride, begin, end, n, out, width, other);
  }
#endif
  with_type(type, [&]<class T>() { pack_plainly<T>(data, stride, begin, end, n, out, width, other); });
}

}  // namespace thetatree
