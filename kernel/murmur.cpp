#include "murmur.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "byte_order.h"
#include "interrupt.h"

namespace thetatree {
namespace {

constexpr std::uint64_t kC1 = 0x87c37b91114253d5ULL;
constexpr std::uint64_t kC2 = 0x4cf5ad432745937fULL;

struct Hash128 {
  std::uint64_t h1;
  std::uint64_t h2;
};

inline std::uint64_t mix_k1(std::uint64_t k) { return std::rotl(k * kC1, 31) * kC2; }
inline std::uint64_t mix_k2(std::uint64_t k) { return std::rotl(k * kC2, 33) * kC1; }

inline std::uint64_t avalanche(std::uint64_t k) {
  k = (k ^ (k >> 33)) * 0xff51afd7ed558ccdULL;
  k = (k ^ (k >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return k ^ (k >> 33);
}

inline Hash128 finish(std::uint64_t h1, std::uint64_t h2, std::uint64_t length) {
  h1 ^= length;
  h2 ^= length;
  h1 += h2;
  h2 += h1;
  h1 = avalanche(h1);
  h2 = avalanche(h2);
  h1 += h2;
  return {h1, h2 + h1};
}

Hash128 murmur3(const std::uint8_t* data, std::size_t length, std::uint64_t seed) {
  std::uint64_t h1 = seed;
  std::uint64_t h2 = seed;
  const std::size_t blocks = length / 16;
  for (std::size_t i = 0; i < blocks; ++i, data += 16) {
    h1 = (std::rotl(h1 ^ mix_k1(load_little64(data)), 27) + h2) * 5 + 0x52dce729;
    h2 = (std::rotl(h2 ^ mix_k2(load_little64(data + 8)), 31) + h1) * 5 + 0x38495ab5;
  }
  std::uint8_t tail[16] = {};
  const std::size_t rest = length & 15;
  if (rest > 0) {
    std::memcpy(tail, data, rest);
    if (rest > 8) {
      h2 ^= mix_k2(load_little64(tail + 8));
    }
    h1 ^= mix_k1(load_little64(tail));
  }
  return finish(h1, h2, length);
}

// Eight bytes are one tail word: no loop, no copy, and the compiler keeps several keys in flight.
inline std::uint64_t hash_word(std::uint64_t word, std::uint64_t seed) {
  return finish(seed ^ mix_k1(word), seed, 8).h1 >> 1;
}

inline std::uint64_t canonical_bits(double x) {
  if (std::isnan(x)) {
    return 0x7ff8000000000000ULL;
  }
  return x == 0.0 ? 0 : std::bit_cast<std::uint64_t>(x);
}

}  // namespace

std::uint64_t hash_bytes(const std::uint8_t* data, std::size_t length, std::uint64_t seed) {
  return murmur3(data, length, seed).h1 >> 1;
}

std::uint16_t seed_hash(std::uint64_t seed) {
  return static_cast<std::uint16_t>(finish(mix_k1(seed), 0, 8).h1 & 0xffff);
}

void hash_int64(const std::int64_t* keys, const std::uint8_t* present, std::size_t n, std::uint64_t seed,
                std::uint64_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = hash_word(static_cast<std::uint64_t>(keys[i]), seed);
  }
  if (present != nullptr) {
    for (std::size_t i = 0; i < n; ++i) {
      out[i] = present[i] != 0 ? out[i] : 0;
    }
  }
}

void hash_float64(const double* keys, const std::uint8_t* present, std::size_t n, std::uint64_t seed,
                  std::uint64_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const bool missing = present != nullptr && present[i] == 0;
    out[i] = missing ? 0 : hash_word(canonical_bits(keys[i]), seed);
  }
}

void hash_text(const std::uint8_t* bytes, const std::int64_t* offsets, const std::uint8_t* present,
               std::size_t n, std::uint64_t seed, std::uint64_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    poll_at(static_cast<std::int64_t>(i));
    const auto length = static_cast<std::size_t>(offsets[i + 1] - offsets[i]);
    const bool skipped = length == 0 || (present != nullptr && present[i] == 0);
    out[i] = skipped ? 0 : hash_bytes(bytes + offsets[i], length, seed);
  }
}

}  // namespace thetatree
