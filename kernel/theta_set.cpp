#include "theta_set.h"

#include <algorithm>
#include <cstring>
#include <iterator>

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

}  // namespace

SketchColumn unite(const SketchView& view, const std::int64_t* groups, const std::int64_t* members,
                   const std::int64_t* k, std::size_t n_groups) {
  ColumnBuilder builder(n_groups);
  Hashes united;
  Hashes merged;
  for (std::size_t g = 0; g < n_groups; ++g) {
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

SketchColumn combine(const SketchView& view, const std::int64_t* left, const std::int64_t* right, std::size_t n,
                     PairOperation operation) {
  ColumnBuilder builder(n);
  for (std::size_t i = 0; i < n; ++i) {
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
              std::int64_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto a = static_cast<std::size_t>(left[i]);
    const auto b = static_cast<std::size_t>(right[i]);
    const std::uint64_t theta = std::min(view.thetas[a], view.thetas[b]);
    const std::uint64_t* p = view.begin(a);
    const std::uint64_t* q = view.begin(b);
    const std::uint64_t* const p_end = below(view, a, theta);
    const std::uint64_t* const q_end = below(view, b, theta);
    out[3 * i + 1] = p_end - p;
    out[3 * i + 2] = q_end - q;
    std::int64_t both = 0;
    while (p < p_end && q < q_end) {
      const std::uint64_t x = *p;
      const std::uint64_t y = *q;
      both += x == y;
      p += x <= y;
      q += y <= x;
    }
    out[3 * i] = both;
  }
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
  std::sort(held.begin(), held.end());
  held.erase(std::unique(held.begin(), held.end()), held.end());
  if (held.size() > k_) {
    held.resize(k_ + 1);
    sampler.theta = held.back();
  }
}

void Samplers::add_codes(const std::uint64_t* hashes, const std::int32_t* classes, const std::int32_t* codes,
                         std::size_t n, const std::int64_t* ids, std::size_t n_codes) {
  for (std::size_t i = 0; i < n; ++i) {
    if (hashes[i] == 0 || classes[i] < 0 || codes[i] < 0) {
      continue;
    }
    const std::int64_t id = ids[static_cast<std::size_t>(classes[i]) * n_codes + static_cast<std::size_t>(codes[i])];
    if (id >= 0) {
      offer(samplers_[static_cast<std::size_t>(id)], hashes[i]);
    }
  }
}

void Samplers::add_flags(const std::uint64_t* hashes, const std::uint32_t* tops, const std::int32_t* classes,
                         const std::uint8_t* flags, std::size_t n, const std::int64_t* ids, std::size_t n_classes,
                         std::uint8_t low, std::uint8_t high) {
  // After the first rows few hashes are still small enough, so blocks are sifted by bytes first, with a bound that
  // holds for every class, and only what passes is looked at one by one.
  constexpr std::size_t kBlock = 256;
  std::uint8_t passes[kBlock];
  for (std::size_t from = 0; from < n; from += kBlock) {
    const std::size_t count = std::min(kBlock, n - from);
    std::uint64_t theta = 0;
    for (std::size_t c = 0; c < n_classes; ++c) {
      theta = std::max(theta, samplers_[static_cast<std::size_t>(ids[c])].theta);
    }
    const auto bound = static_cast<std::uint32_t>(theta >> 32);
    const auto width = static_cast<std::uint8_t>(high - low);
    std::memset(passes, 0, kBlock);
    for (std::size_t i = 0; i < count; ++i) {
      const auto wanted = static_cast<std::uint8_t>(static_cast<std::uint8_t>(flags[from + i] - low) <= width);
      passes[i] = static_cast<std::uint8_t>(wanted & static_cast<std::uint8_t>(tops[from + i] <= bound));
    }
    for (std::size_t word = 0; word < kBlock; word += 8) {
      std::uint64_t any;
      std::memcpy(&any, passes + word, 8);
      if (any == 0) {
        continue;
      }
      for (std::size_t i = word; i < word + 8; ++i) {
        if (passes[i] != 0 && hashes[from + i] != 0 && classes[from + i] >= 0) {
          offer(samplers_[static_cast<std::size_t>(ids[classes[from + i]])], hashes[from + i]);
        }
      }
    }
  }
}

SketchColumn Samplers::finish() const {
  ColumnBuilder builder(samplers_.size());
  Sampler last;
  for (std::size_t i = 0; i < samplers_.size(); ++i) {
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
