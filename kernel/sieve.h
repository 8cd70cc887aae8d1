// Which rows of a batch a sketch still has to look at.
//
// A sketch that has seen many keys wants few more: those whose hash is below its θ. level: a byte for each hash, in
// quarters of an octave, the greater the smaller the hash is; a row below θ's level is of no use. So a flag and a
// level, two bytes, say for 64 rows at a time that there is nothing to do.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace thetatree {

// Rises as hashes fall: below θ no hash has a lesser level than θ itself. 0, which stands for no key, has level 0.
inline std::uint8_t level_of(std::uint64_t hash) {
  if (hash == 0) return 0;
  const int zeros = std::countl_zero(hash);
  const std::uint64_t quarter = hash << zeros << 1 >> 62;
  return static_cast<std::uint8_t>(zeros == 0 ? 0 : 4 * (zeros - 1) + 3 - static_cast<int>(quarter));
}

void levels_of(const std::uint64_t* hashes, std::size_t n, std::uint8_t* out);

constexpr std::size_t kSieveRows = 4096;

// A column of flags: bytes, or Arrow's bits from a position on.
struct Bits {
  const std::uint8_t* bytes;
  std::size_t size;  // in bytes
  std::size_t offset;
};

// Bit i of `words` says of row i that its flag is from low to high, and its level is `least` or above. At most
// kSieveRows rows; what is beyond them in the last word is 0.
void sift_bytes(const std::uint8_t* flags, const std::uint8_t* levels, std::size_t n, std::uint8_t low,
                std::uint8_t high, std::uint8_t least, std::uint64_t* words);
// The same of bits that are set.
void sift_bits(const Bits& bits, const std::uint8_t* levels, std::size_t n, std::uint8_t least, std::uint64_t* words);

}  // namespace thetatree
