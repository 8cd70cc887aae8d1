// The hash of every key: MurmurHash3_x64_128 under a seed, first half, without its lowest bit, which is what
// DataSketches' theta sketches store. Integers are hashed as 8 little-endian bytes, floats as their IEEE bits with
// one zero and one NaN, text as its UTF-8 bytes. A hash of 0 means "no key": empty text and missing values get it,
// and DataSketches never stores it either.
#pragma once

#include <cstddef>
#include <cstdint>

namespace thetatree {

inline constexpr std::uint64_t kDefaultSeed = 9001;

std::uint64_t hash_bytes(const std::uint8_t* data, std::size_t length, std::uint64_t seed);

// The 16 bits by which DataSketches tells sketches of different seeds apart.
std::uint16_t seed_hash(std::uint64_t seed);

// present may be null; otherwise a zero byte marks a missing key.
void hash_int64(const std::int64_t* keys, const std::uint8_t* present, std::size_t n, std::uint64_t seed,
                std::uint64_t* out);
void hash_float64(const double* keys, const std::uint8_t* present, std::size_t n, std::uint64_t seed,
                  std::uint64_t* out);

// Arrow's string layout: key i is bytes [offsets[i], offsets[i + 1]).
void hash_text(const std::uint8_t* bytes, const std::int64_t* offsets, const std::uint8_t* present,
               std::size_t n, std::uint64_t seed, std::uint64_t* out);

}  // namespace thetatree
