#include "theta_set.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "hash_sort.h"
#include "parallel.h"

namespace thetatree {
namespace {

using Hashes = std::vector<std::uint64_t>;

// Sketches of unknown sizes, one after the other.
class ColumnBuilder {
 public:
  explicit ColumnBuilder(std::size_t n) : offsets_(n + 1), thetas_(n) { offsets_.data[0] = 0; }

  Hashes& hashes() { return hashes_; }

  void close(std::size_t i, std::uint64_t theta) {
    thetas_.data[i] = theta;
    offsets_.data[i + 1] = static_cast<std::int64_t>(hashes_.size());
  }
  SketchColumn take() {
    Buffer<std::uint64_t> hashes(hashes_.size());
    std::copy(hashes_.begin(), hashes_.end(), hashes.data.get());
    return {std::move(hashes), std::move(offsets_), std::move(thetas_)};
  }

 private:
  Hashes hashes_;
  Buffer<std::int64_t> offsets_;
  Buffer<std::uint64_t> thetas_;
};

void trim(Hashes& sorted, std::uint64_t& theta, std::size_t k) {
  if (k > 0 && sorted.size() > k) {
    theta = sorted[k];
    sorted.resize(k);
  }
}

const std::uint64_t* below(const SketchView& view, std::size_t i, std::uint64_t theta) {
  return view.thetas[i] <= theta ? view.end(i) : std::lower_bound(view.begin(i), view.end(i), theta);
}

// A sketch made ready for many look-ups: its hashes by their leading bits, about one to each place.
class Shelf {
 public:
  void fill(const std::uint64_t* begin, const std::uint64_t* end) {
    begin_ = begin;
    const auto n = static_cast<std::size_t>(end - begin);
    const int bits = static_cast<int>(std::bit_width(n));
    shift_ = n > 0 ? std::max(0, static_cast<int>(std::bit_width(end[-1])) - bits) : 0;
    places_.assign((std::size_t{1} << bits) + 1, 0);
    for (const std::uint64_t* hash = begin; hash != end; ++hash) {
      ++places_[(*hash >> shift_) + 1];
    }
    for (std::size_t place = 1; place < places_.size(); ++place) {
      places_[place] += places_[place - 1];
    }
  }
  bool holds(std::uint64_t hash) const {
    const std::uint64_t place = hash >> shift_;
    if (place + 1 >= places_.size()) {
      return false;
    }
    const std::uint64_t* const from = begin_ + places_[place];
    const std::uint64_t* const to = begin_ + places_[place + 1];
    constexpr std::ptrdiff_t kFew = 8;
    return to - from > kFew ? std::binary_search(from, to, hash) : std::find(from, to, hash) != to;
  }

 private:
  const std::uint64_t* begin_ = nullptr;
  int shift_ = 0;
  std::vector<std::size_t> places_;
};

// The same as `overlap`, for sketch b on its shelf.
void overlap_with(const SketchView& view, const Shelf& shelf, std::size_t a, std::size_t b, std::int64_t* out) {
  const std::uint64_t theta = std::min(view.thetas[a], view.thetas[b]);
  const std::uint64_t* const end = below(view, a, theta);
  std::int64_t both = 0;
  for (const std::uint64_t* hash = view.begin(a); hash != end; ++hash) {
    both += shelf.holds(*hash);
  }
  out[0] = both;
  out[1] = end - view.begin(a);
  out[2] = below(view, b, theta) - view.begin(b);
}

// Below the lesser theta: hashes in both, in the first, in the second.
void overlap(const SketchView& view, std::size_t a, std::size_t b, std::int64_t* out) {
  const std::uint64_t theta = std::min(view.thetas[a], view.thetas[b]);
  const std::uint64_t* p = view.begin(a);
  const std::uint64_t* q = view.begin(b);
  const std::uint64_t* const p_end = below(view, a, theta);
  const std::uint64_t* const q_end = below(view, b, theta);
  out[1] = p_end - p;
  out[2] = q_end - q;
  std::int64_t both = 0;
  while (p < p_end && q < q_end) {
    const std::uint64_t x = *p;
    const std::uint64_t y = *q;
    both += x == y;
    p += x <= y;
    q += y <= x;
  }
  out[0] = both;
}

}  // namespace

SketchColumn unite(const SketchView& view, const std::int64_t* groups, const std::int64_t* members,
                   const std::int64_t* k, std::size_t n_groups) {
  ColumnBuilder builder(n_groups);
  Hashes united;
  Hashes merged;
  for (std::size_t g = 0; g < n_groups; ++g) {
    poll();
    std::uint64_t theta = kMaxTheta;
    for (std::int64_t m = groups[g]; m < groups[g + 1]; ++m) {
      theta = std::min(theta, view.thetas[members[m]]);
    }
    united.clear();
    const auto limit = static_cast<std::size_t>(k[g]);
    for (std::int64_t m = groups[g]; m < groups[g + 1]; ++m) {
      const auto i = static_cast<std::size_t>(members[m]);
      const std::uint64_t* const end = below(view, i, theta);
      if (united.empty()) {
        united.assign(view.begin(i), end);
      } else {
        merged.clear();
        std::set_union(united.begin(), united.end(), view.begin(i), end, std::back_inserter(merged));
        united.swap(merged);
      }
      trim(united, theta, limit);
    }
    builder.hashes().insert(builder.hashes().end(), united.begin(), united.end());
    builder.close(g, theta);
  }
  return builder.take();
}

SketchColumn take(const SketchView& view, const std::int64_t* members, std::size_t n) {
  SketchColumn out{Buffer<std::uint64_t>(0), Buffer<std::int64_t>(n + 1), Buffer<std::uint64_t>(n)};
  out.offsets.data[0] = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto member = static_cast<std::size_t>(members[i]);
    out.offsets.data[i + 1] = out.offsets.data[i] + (view.end(member) - view.begin(member));
    out.thetas.data[i] = view.thetas[member];
  }
  out.hashes = Buffer<std::uint64_t>(static_cast<std::size_t>(out.offsets.data[n]));
  for (std::size_t i = 0; i < n; ++i) {
    const auto member = static_cast<std::size_t>(members[i]);
    std::copy(view.begin(member), view.end(member), out.hashes.data.get() + out.offsets.data[i]);
  }
  return out;
}

SketchColumn combine(const SketchView& view, const std::int64_t* left, const std::int64_t* right, std::size_t n,
                     PairOperation operation) {
  ColumnBuilder builder(n);
  for (std::size_t i = 0; i < n; ++i) {
    poll();
    const auto a = static_cast<std::size_t>(left[i]);
    const auto b = static_cast<std::size_t>(right[i]);
    const std::uint64_t theta = std::min(view.thetas[a], view.thetas[b]);
    const std::uint64_t* const a_end = below(view, a, theta);
    const std::uint64_t* const b_end = below(view, b, theta);
    auto out = std::back_inserter(builder.hashes());
    if (operation == PairOperation::intersect) {
      std::set_intersection(view.begin(a), a_end, view.begin(b), b_end, out);
    } else {
      std::set_difference(view.begin(a), a_end, view.begin(b), b_end, out);
    }
    builder.close(i, theta);
  }
  return builder.take();
}

void overlaps(const SketchView& view, const std::int64_t* left, const std::int64_t* right, std::size_t n,
              int n_threads, std::int64_t* out) {
  constexpr std::int64_t kPairs = 64;  // for a thread at a time
  constexpr std::int64_t kWorthShelf = 4;
  parallel_chunks(n_threads, static_cast<std::int64_t>(n), kPairs, [&](std::int64_t begin, std::int64_t end, int) {
    Shelf shelf;
    std::int64_t run = 0;  // how many pairs in a row have this one's right sketch
    for (std::int64_t i = begin; i < end; ++i) {
      const auto a = static_cast<std::size_t>(left[i]), b = static_cast<std::size_t>(right[i]);
      if (i == begin || right[i] != right[i - 1]) {
        run = std::find_if(right + i, right + end, [&](std::int64_t j) { return j != right[i]; }) - (right + i);
        if (run >= kWorthShelf) {
          shelf.fill(view.begin(b), view.end(b));
        }
      }
      if (run >= kWorthShelf) {
        overlap_with(view, shelf, a, b, out + 3 * i);
      } else {
        overlap(view, a, b, out + 3 * i);
      }
    }
  });
}

namespace {

// 32 bits of a hash that say nothing about its size, nor about those of another salt: splitmix64's finalizer.
std::uint64_t lot_of(std::uint64_t hash, std::uint64_t salt) {
  hash += (salt + 1) * 0x9e3779b97f4a7c15ULL;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ULL;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebULL;
  hash ^= hash >> 31;
  return hash >> 32;
}

template <class Wanted>
SketchColumn take_if(const SketchView& view, const Wanted& wanted) {
  ColumnBuilder builder(view.n);
  for (std::size_t i = 0; i < view.n; ++i) {
    poll();
    std::copy_if(view.begin(i), view.end(i), std::back_inserter(builder.hashes()), wanted);
    builder.close(i, view.thetas[i]);
  }
  return builder.take();
}

}  // namespace

// The fold is picked by multiplication, without modulo bias worth the name.
SketchColumn take_fold(const SketchView& view, std::uint64_t n_folds, std::uint64_t fold, bool keep,
                       std::uint64_t salt) {
  return take_if(view, [=](std::uint64_t hash) { return ((lot_of(hash, salt) * n_folds >> 32) == fold) == keep; });
}

SketchColumn take_share(const SketchView& view, double share, bool keep, std::uint64_t salt) {
  const auto first_out = static_cast<std::uint64_t>(share * 4294967296.0);
  return take_if(view, [=](std::uint64_t hash) { return (lot_of(hash, salt) < first_out) == keep; });
}

void Samplers::prune(Sampler& sampler) const {
  Hashes& held = sampler.held;
  static thread_local Hashes swap;
  sort_by_hash(held, swap, 0, [](std::uint64_t hash) { return hash; });
  held.erase(std::unique(held.begin(), held.end()), held.end());
  if (held.size() > k_) {
    held.resize(k_ + 1);
    sampler.theta = held.back();
  }
}

void Samplers::add_codes(const std::uint64_t* hashes, const std::int32_t* classes, const std::int32_t* codes,
                         std::size_t n, const std::int64_t* ids, std::size_t n_codes) {
  for (std::size_t i = 0; i < n; ++i) {
    poll_at(static_cast<std::int64_t>(i));
    if (hashes[i] == 0 || classes[i] < 0 || codes[i] < 0) {
      continue;
    }
    const std::int64_t id = ids[static_cast<std::size_t>(classes[i]) * n_codes + static_cast<std::size_t>(codes[i])];
    if (id >= 0) {
      offer(samplers_[static_cast<std::size_t>(id)], hashes[i]);
    }
  }
}

std::uint8_t Samplers::least_level(const std::int64_t* ids, std::size_t n) const {
  std::uint64_t theta = 0;
  for (std::size_t i = 0; i < n; ++i) {
    theta = std::max(theta, samplers_[static_cast<std::size_t>(ids[i])].theta);
  }
  return level_of(theta);
}

// After the first rows few hashes are still small enough, so blocks of rows are sifted, with a bound that holds for
// every class, and only what passes is looked at one by one.
template <class Sift>
void Samplers::add_sifted(const SiftedKeys& keys, const std::int64_t* ids, std::size_t n_classes, const Sift& sift) {
  std::uint64_t words[kSieveRows / 64];
  for (std::size_t from = 0; from < keys.n; from += kSieveRows) {
    poll_at(static_cast<std::int64_t>(from));
    const std::size_t count = std::min(kSieveRows, keys.n - from);
    sift(from, count, least_level(ids, n_classes), words);
    for (std::size_t word = 0; word < (count + 63) / 64; ++word) {
      for (std::uint64_t left = words[word]; left != 0; left &= left - 1) {
        const std::size_t i = from + 64 * word + static_cast<std::size_t>(std::countr_zero(left));
        if (keys.hashes[i] != 0 && keys.classes[i] >= 0) {
          offer(samplers_[static_cast<std::size_t>(ids[keys.classes[i]])], keys.hashes[i]);
        }
      }
    }
  }
}

void Samplers::add_flags(const SiftedKeys& keys, const std::uint8_t* flags, const std::int64_t* ids,
                         std::size_t n_classes, std::uint8_t low, std::uint8_t high) {
  add_sifted(keys, ids, n_classes, [&](std::size_t from, std::size_t n, std::uint8_t least, std::uint64_t* words) {
    sift_bytes(flags + from, keys.levels + from, n, low, high, least, words);
  });
}

void Samplers::add_bits(const SiftedKeys& keys, const Bits& bits, const std::int64_t* ids, std::size_t n_classes) {
  add_sifted(keys, ids, n_classes, [&](std::size_t from, std::size_t n, std::uint8_t least, std::uint64_t* words) {
    sift_bits({bits.bytes, bits.size, bits.offset + from}, keys.levels + from, n, least, words);
  });
}

SketchColumn Samplers::finish() const {
  ColumnBuilder builder(samplers_.size());
  Sampler last;
  for (std::size_t i = 0; i < samplers_.size(); ++i) {
    poll();
    last = samplers_[i];
    prune(last);
    std::uint64_t theta = kMaxTheta;
    trim(last.held, theta, k_);
    builder.hashes().insert(builder.hashes().end(), last.held.begin(), last.held.end());
    builder.close(i, theta);
  }
  return builder.take();
}

}  // namespace thetatree
