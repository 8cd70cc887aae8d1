// Compact theta sketches as bytes, read and written a whole column at a time.
//
// blob: one sketch image. column: blobs laid end to end, blob i being bytes [offsets[i], offsets[i + 1]).
//
// Byte layout of an image (all numbers little-endian):
//   0 preamble longs   1 serial version   2 family (3 = compact)   5 flags   6-7 hash of the seed
//   version 3: preamble 1 is empty or one hash at 8; 2 has the count at 8 and hashes from 16 (θ = 1);
//              3 has θ at 16 and hashes from 24.
//   version 4: 3 entry bits, 4 bytes of the count; preamble 2 has θ at 8; then the count; then the differences of
//              successive hashes, each in `entry bits` bits, most significant bit first.
//
// Nothing in a header is believed before it is compared with the blob's length: memory is taken only after the
// whole column's headers passed, and is at most 8 bytes for each entry that the blob has bits for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "memory.h"

namespace thetatree {

// θ = 1: no hash was thrown away. Every hash is below it.
inline constexpr std::uint64_t kMaxTheta = 0x7fffffffffffffffULL;

struct WireError {
  std::int64_t sketch;  // which blob of the column
  std::int64_t offset;  // byte in that blob
  std::string what;     // the value found, and the remedy
};

// A buffer that is not zeroed first.
template <class T>
struct Buffer {
  std::unique_ptr<T[], GiveBack> data;
  std::size_t size = 0;
  explicit Buffer(std::size_t n = 0) : data(static_cast<T*>(take_memory(n, sizeof(T)))), size(n) {}
};

struct SketchColumn {
  Buffer<std::uint64_t> hashes;  // each sketch's hashes strictly ascending
  Buffer<std::int64_t> offsets;
  Buffer<std::uint64_t> thetas;
};

struct ByteColumn {
  Buffer<std::uint8_t> bytes;
  Buffer<std::int64_t> offsets;
};

// Throws WireError, of the first blob that is refused. Accepts ClickHouse's length-prefixed state for any blob.
SketchColumn read_sketches(const std::uint8_t* bytes, const std::int64_t* offsets, std::size_t n,
                           std::uint16_t seed_hash, int n_threads);

// version 3, or 4, which falls back to 3 for the sketches that have no compressed form, as DataSketches does.
ByteColumn write_sketches(const std::uint64_t* hashes, const std::int64_t* offsets, const std::uint64_t* thetas,
                          std::size_t n, std::uint16_t seed_hash, int version);

// Base64 (standard or URL alphabet, padded or not, line breaks allowed) or hexadecimal (also after 0x or \x), told
// apart cell by cell. Throws WireError.
ByteColumn decode_text(const std::uint8_t* text, const std::int64_t* offsets, std::size_t n);

}  // namespace thetatree
