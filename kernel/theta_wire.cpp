#include "theta_wire.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <mutex>
#include <optional>

#include "byte_order.h"
#include "parallel.h"

namespace thetatree {
namespace {

constexpr int kBigEndian = 1;
constexpr int kReadOnly = 2;
constexpr int kEmpty = 4;
constexpr int kCompact = 8;
constexpr int kOrdered = 16;
constexpr int kReserved = 64 | 128;
constexpr int kCompactFamily = 3;

// Where a blob's entries are, after its header was checked against its length.
struct Layout {
  std::uint64_t count = 0;
  std::uint64_t theta = kMaxTheta;
  const std::uint8_t* entries = nullptr;
  int entry_bits = 64;  // 64: plain hashes; less: packed differences
  bool ordered = true;
};

struct Blob {
  const std::uint8_t* start;  // of the cell, for offsets in errors
  const std::uint8_t* image;
  std::size_t size;  // of the image
  std::int64_t index;

  [[noreturn]] void fail(const std::uint8_t* at, std::string what) const {
    throw WireError{index, at - start, std::move(what)};
  }
  void need(std::uint64_t bytes, const char* part) const {
    if (size < bytes) {
      fail(image + size, "truncated: " + std::to_string(size) + " bytes where " + part + " needs " +
                             std::to_string(bytes) + "; export the column again without cutting cells");
    }
  }
};

std::string hex(std::uint64_t v) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
  return text;
}

std::string number(std::uint64_t v) { return std::to_string(v); }

// ClickHouse writes an aggregate state as its length (a varint) and the image. No image can be mistaken for one: its
// first byte, at most 3, would be a length shorter than any image.
Blob unwrap(const std::uint8_t* start, std::size_t size, std::int64_t index) {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < size && i < 9; ++i) {
    length |= static_cast<std::uint64_t>(start[i] & 0x7f) << (7 * i);
    if (start[i] < 0x80) {
      if (length == size - i - 1) {
        return {start, start + i + 1, size - i - 1, index};
      }
      break;
    }
  }
  return {start, start, size, index};
}

void check_flags(const Blob& blob, int flags) {
  const std::uint8_t* at = blob.image + 5;
  if ((flags & kBigEndian) != 0) {
    blob.fail(at, "the big-endian flag is set; write the sketch on a little-endian machine");
  }
  if ((flags & kReserved) != 0) {
    blob.fail(at, "flags " + hex(static_cast<std::uint64_t>(flags)) + " use reserved bits; the image is damaged");
  }
  if ((flags & kCompact) == 0) {
    blob.fail(at, "flags " + hex(static_cast<std::uint64_t>(flags)) +
                      " lack the compact bit; serialize sketch.compact()");
  }
}

// The common eight bytes. Returns the flags.
int check_preamble(const Blob& blob, std::uint16_t seed_hash) {
  blob.need(8, "a preamble");
  const int version = blob.image[1];
  if (version != 3 && version != 4) {
    blob.fail(blob.image + 1, "serial version " + number(blob.image[1]) +
                                  "; versions 3 and 4 are read: this is not a theta sketch, or one written before 2015");
  }
  if (blob.image[2] != kCompactFamily) {
    blob.fail(blob.image + 2, "family " + number(blob.image[2]) +
                                  "; a compact theta sketch has family 3: serialize sketch.compact()");
  }
  const int flags = blob.image[5];
  check_flags(blob, flags);
  const auto found = static_cast<std::uint16_t>(load_little(blob.image + 6, 2));
  if (found != seed_hash && (flags & kEmpty) == 0) {
    blob.fail(blob.image + 6, "seed hash " + hex(found) + " where " + hex(seed_hash) +
                                  " is expected; the sketch was made with another seed: pass that seed, or use 9001");
  }
  return flags;
}

std::uint64_t checked_theta(const Blob& blob, std::size_t at) {
  const std::uint64_t theta = load_little64(blob.image + at);
  if (theta == 0 || theta > kMaxTheta) {
    blob.fail(blob.image + at, "theta " + hex(theta) + " is outside (0, 1]; the image is damaged");
  }
  return theta;
}

void check_size(const Blob& blob, std::uint64_t header, std::uint64_t entry_bytes, std::uint64_t count) {
  const std::uint64_t expected = header + entry_bytes;
  const std::string entries = number(count) + " entries";
  blob.need(expected, entries.c_str());
  if (blob.size > expected) {
    blob.fail(blob.image + expected, number(blob.size - expected) + " extra bytes after the last of " + entries +
                                         "; the count or the cell is damaged");
  }
}

Layout layout_v3(const Blob& blob, int flags) {
  Layout layout;
  const int longs = blob.image[0];
  if (longs < 1 || longs > 3) {
    blob.fail(blob.image, "preamble of " + number(blob.image[0]) + " longs; version 3 has 1 to 3: not a compact theta sketch");
  }
  layout.ordered = (flags & kOrdered) != 0;
  if (longs == 1) {
    layout.count = (flags & kEmpty) != 0 ? 0 : 1;
  } else {
    blob.need(8 * static_cast<std::uint64_t>(longs), "this preamble");
    layout.count = load_little(blob.image + 8, 4);
  }
  if ((flags & kEmpty) != 0) {
    if (layout.count != 0) {
      blob.fail(blob.image + 8, "the empty flag is set but the count is " + number(layout.count) + "; the image is damaged");
    }
  } else if (longs == 3) {
    layout.theta = checked_theta(blob, 16);
  }
  const std::uint64_t header = 8 * static_cast<std::uint64_t>(longs);
  check_size(blob, header, 8 * layout.count, layout.count);
  layout.entries = blob.image + header;
  return layout;
}

Layout layout_v4(const Blob& blob, int flags) {
  Layout layout;
  const int longs = blob.image[0];
  if (longs != 1 && longs != 2) {
    blob.fail(blob.image, "preamble of " + number(blob.image[0]) + " longs; version 4 has 1 or 2: not a compact theta sketch");
  }
  const int count_bytes = blob.image[4];
  if (count_bytes < 1 || count_bytes > 4) {
    blob.fail(blob.image + 4, "a count of " + number(blob.image[4]) + " bytes; version 4 has 1 to 4: the image is damaged");
  }
  const std::uint64_t count_at = 8 * static_cast<std::uint64_t>(longs);
  const std::uint64_t header = count_at + static_cast<std::uint64_t>(count_bytes);
  blob.need(header, "this preamble");
  if (longs == 2) {
    layout.theta = checked_theta(blob, 8);
  }
  layout.count = load_little(blob.image + count_at, count_bytes);
  if ((flags & kEmpty) != 0 && layout.count != 0) {
    blob.fail(blob.image + count_at, "the empty flag is set but the count is " + number(layout.count) + "; the image is damaged");
  }
  layout.entry_bits = blob.image[3];
  if (layout.entry_bits > 63 || (layout.entry_bits == 0 && layout.count > 0)) {
    blob.fail(blob.image + 3, "entries of " + number(blob.image[3]) + " bits; version 4 has 1 to 63: the image is damaged");
  }
  const std::uint64_t bits = layout.count * static_cast<std::uint64_t>(layout.entry_bits);  // below 2^38
  check_size(blob, header, (bits + 7) / 8, layout.count);
  layout.entries = blob.image + header;
  return layout;
}

Layout layout_of(const Blob& blob, std::uint16_t seed_hash) {
  if (blob.size == 0) {
    if (blob.image > blob.start) {
      return {};  // the state of an aggregate that saw no row
    }
    blob.fail(blob.start, "an empty cell where a sketch is expected; an empty set has an 8-byte image");
  }
  const int flags = check_preamble(blob, seed_hash);
  return blob.image[1] == 3 ? layout_v3(blob, flags) : layout_v4(blob, flags);
}

[[noreturn]] void fail_entry(const Blob& blob, const Layout& layout, const std::uint64_t* out) {
  for (std::uint64_t i = 0; i < layout.count; ++i) {
    const std::uint8_t* at = layout.ordered ? layout.entries + 8 * i : layout.entries;
    if (out[i] == 0) {
      blob.fail(at, "hash 0, which no key has; the image is damaged");
    }
    if (i > 0 && out[i] == out[i - 1]) {
      blob.fail(at, "hash " + hex(out[i]) + " occurs twice; a set holds each hash once: make the sketch again");
    }
    if (i > 0 && out[i] < out[i - 1]) {
      blob.fail(at, "hash " + hex(out[i]) + " after " + hex(out[i - 1]) +
                        ": not ascending, though the image says ordered; serialize sketch.compact(ordered=True)");
    }
    if (out[i] >= layout.theta) {
      blob.fail(at, "hash " + hex(out[i]) + " is not below theta " + hex(layout.theta) + "; the image is damaged");
    }
  }
  blob.fail(layout.entries, "damaged entries");
}

// Copied and compared in pieces that stay in the first-level cache.
void read_plain(const Blob& blob, const Layout& layout, std::uint64_t* out) {
  constexpr std::uint64_t kPiece = 1024;
  const std::uint64_t n = layout.count;
  std::uint64_t bad = 0;
  for (std::uint64_t from = 0; from < n; from += kPiece) {
    const std::uint64_t to = std::min(n, from + kPiece);
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(out + from, layout.entries + 8 * from, 8 * (to - from));
    } else {
      for (std::uint64_t i = from; i < to; ++i) {
        out[i] = load_little64(layout.entries + 8 * i);
      }
    }
    if (layout.ordered) {
      for (std::uint64_t i = std::max<std::uint64_t>(from, 1); i < to; ++i) {
        bad |= static_cast<std::uint64_t>(out[i] <= out[i - 1]);
      }
    }
  }
  if (!layout.ordered) {
    std::sort(out, out + n);
    bad |= static_cast<std::uint64_t>(std::adjacent_find(out, out + n) != out + n);
  }
  if (n > 0 && (bad != 0 || out[0] == 0 || out[n - 1] >= layout.theta)) {
    fail_entry(blob, layout, out);
  }
}

// Entry i is bits [i * width, (i + 1) * width), most significant first. Eight bytes hold an entry of up to 57 bits
// wherever it starts; a wider one may need a ninth.
inline std::uint64_t packed_entry(const std::uint8_t* entries, std::size_t available, std::uint64_t bit, int width) {
  const std::uint64_t byte = bit >> 3;
  const int shift = static_cast<int>(bit & 7);
  std::uint64_t word;
  if (byte + 8 <= available) {
    word = load_big64(entries + byte);
  } else {
    std::uint8_t last[8] = {};
    std::memcpy(last, entries + byte, available - byte);
    word = load_big64(last);
  }
  word <<= shift;
  if (shift + width > 64) {
    word |= static_cast<std::uint64_t>(entries[byte + 8]) >> (8 - shift);
  }
  return word >> (64 - width);
}

void read_packed(const Blob& blob, const Layout& layout, std::uint64_t* out) {
  const int width = layout.entry_bits;
  const auto available = static_cast<std::size_t>(blob.image + blob.size - layout.entries);
  std::uint64_t hash = 0;
  std::uint64_t bit = 0;
  for (std::uint64_t i = 0; i < layout.count; ++i, bit += static_cast<std::uint64_t>(width)) {
    const std::uint64_t step = packed_entry(layout.entries, available, bit, width);
    hash += step;  // both below 2^63: cannot wrap
    if (step == 0 || hash >= layout.theta) {
      const std::string why = step == 0 ? " occurs twice; a set holds each hash once: make the sketch again"
                                        : " is not below theta " + hex(layout.theta) + "; the image is damaged";
      blob.fail(layout.entries + (bit >> 3), "hash " + hex(hash) + why);
    }
    out[i] = hash;
  }
}

Blob blob_at(const std::uint8_t* bytes, const std::int64_t* offsets, std::size_t i) {
  return unwrap(bytes + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i]), static_cast<std::int64_t>(i));
}

}  // namespace

SketchColumn read_sketches(const std::uint8_t* bytes, const std::int64_t* offsets, std::size_t n,
                           std::uint16_t seed_hash, int n_threads) {
  SketchColumn column{Buffer<std::uint64_t>(0), Buffer<std::int64_t>(n + 1), Buffer<std::uint64_t>(n)};
  column.offsets.data[0] = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Layout layout = layout_of(blob_at(bytes, offsets, i), seed_hash);
    column.offsets.data[i + 1] = column.offsets.data[i] + static_cast<std::int64_t>(layout.count);
    column.thetas.data[i] = layout.theta;
  }
  column.hashes = Buffer<std::uint64_t>(static_cast<std::size_t>(column.offsets.data[n]));
  constexpr std::int64_t kBlobs = 16;  // for a thread at a time
  std::mutex lock;
  std::optional<WireError> first;
  parallel_chunks(n_threads, static_cast<std::int64_t>(n), kBlobs, [&](std::int64_t begin, std::int64_t end, int) {
    try {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
        const Blob blob = blob_at(bytes, offsets, i);
        const Layout layout = layout_of(blob, seed_hash);
        std::uint64_t* out = column.hashes.data.get() + column.offsets.data[i];
        (layout.entry_bits == 64 ? read_plain : read_packed)(blob, layout, out);
      }
    } catch (const WireError& error) {
      const std::lock_guard<std::mutex> guard(lock);
      if (!first || error.sketch < first->sketch) {
        first = error;
      }
    }
  });
  if (first) {
    throw *first;
  }
  return column;
}

namespace {

struct Image {
  std::uint64_t count;
  std::uint64_t theta;
  int entry_bits;  // 64: version 3
  std::uint64_t size;

  bool exact() const { return theta == kMaxTheta; }
  bool empty() const { return count == 0 && exact(); }
  bool single() const { return count == 1 && exact(); }
};

int count_bytes(std::uint64_t count) { return (std::bit_width(count) + 7) / 8; }

Image image_of(const std::uint64_t* hashes, std::uint64_t count, std::uint64_t theta, int version) {
  Image image{count, theta, 64, 0};
  if (version == 4 && count > 0 && !image.single()) {
    std::uint64_t all = hashes[0];
    for (std::uint64_t i = 1; i < count; ++i) {
      all |= hashes[i] - hashes[i - 1];
    }
    image.entry_bits = std::bit_width(all);
    const std::uint64_t bits = count * static_cast<std::uint64_t>(image.entry_bits);
    image.size = (image.exact() ? 8 : 16) + static_cast<std::uint64_t>(count_bytes(count)) + (bits + 7) / 8;
  } else if (image.empty() || image.single()) {
    image.size = 8 + 8 * count;
  } else {
    image.size = (image.exact() ? 16 : 24) + 8 * count;
  }
  return image;
}

void write_head(std::uint8_t* out, int longs, int version, bool empty, std::uint16_t seed_hash) {
  out[0] = static_cast<std::uint8_t>(longs);
  out[1] = static_cast<std::uint8_t>(version);
  out[2] = kCompactFamily;
  out[3] = 0;
  out[4] = 0;
  out[5] = static_cast<std::uint8_t>(kReadOnly | kCompact | kOrdered | (empty ? kEmpty : 0));
  store_little(out + 6, seed_hash, 2);
}

void write_plain(std::uint8_t* out, const std::uint64_t* hashes, const Image& image, std::uint16_t seed_hash) {
  const int longs = image.empty() || image.single() ? 1 : (image.exact() ? 2 : 3);
  write_head(out, longs, 3, image.empty(), seed_hash);
  if (longs > 1) {
    store_little(out + 8, image.count, 8);
  }
  if (longs > 2) {
    store_little64(out + 16, image.theta);
  }
  out += 8 * longs;
  for (std::uint64_t i = 0; i < image.count; ++i) {
    store_little64(out + 8 * i, hashes[i]);
  }
}

void write_packed(std::uint8_t* out, const std::uint64_t* hashes, const Image& image, std::uint16_t seed_hash) {
  const int bytes = count_bytes(image.count);
  write_head(out, image.exact() ? 1 : 2, 4, false, seed_hash);
  out[3] = static_cast<std::uint8_t>(image.entry_bits);
  out[4] = static_cast<std::uint8_t>(bytes);
  out += 8;
  if (!image.exact()) {
    store_little64(out, image.theta);
    out += 8;
  }
  store_little(out, image.count, bytes);
  out += bytes;
  int free_bits = 8;
  std::uint8_t pending = 0;
  std::uint64_t before = 0;
  for (std::uint64_t i = 0; i < image.count; ++i) {
    const std::uint64_t step = hashes[i] - before;
    before = hashes[i];
    for (int left = image.entry_bits; left > 0;) {
      const int take = std::min(left, free_bits);
      left -= take;
      const std::uint64_t bits = (step >> left) & ((1ULL << take) - 1);
      free_bits -= take;
      pending = static_cast<std::uint8_t>(pending | (bits << free_bits));
      if (free_bits == 0) {
        *out++ = pending;
        pending = 0;
        free_bits = 8;
      }
    }
  }
  if (free_bits < 8) {
    *out = pending;
  }
}

}  // namespace

ByteColumn write_sketches(const std::uint64_t* hashes, const std::int64_t* offsets, const std::uint64_t* thetas,
                          std::size_t n, std::uint16_t seed_hash, int version) {
  std::vector<Image> images(n);
  ByteColumn column{Buffer<std::uint8_t>(0), Buffer<std::int64_t>(n + 1)};
  column.offsets.data[0] = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto count = static_cast<std::uint64_t>(offsets[i + 1] - offsets[i]);
    images[i] = image_of(hashes + offsets[i], count, thetas[i], version);
    column.offsets.data[i + 1] = column.offsets.data[i] + static_cast<std::int64_t>(images[i].size);
  }
  column.bytes = Buffer<std::uint8_t>(static_cast<std::size_t>(column.offsets.data[n]));
  for (std::size_t i = 0; i < n; ++i) {
    std::uint8_t* out = column.bytes.data.get() + column.offsets.data[i];
    poll();
    const bool plain = images[i].entry_bits == 64;
    (plain ? write_plain : write_packed)(out, hashes + offsets[i], images[i], seed_hash);
  }
  return column;
}

}  // namespace thetatree
