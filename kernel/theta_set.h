// Set algebra on columns of sketches, and the samplers that make sketches from hashed keys.
//
// A sketch is θ and every hash of its set below θ, ascending. Two sketches can be combined below the lesser θ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sieve.h"
#include "theta_wire.h"

namespace thetatree {

// A column of sketches owned by someone else.
struct SketchView {
  const std::uint64_t* hashes;
  const std::int64_t* offsets;
  const std::uint64_t* thetas;
  std::size_t n;

  const std::uint64_t* begin(std::size_t i) const { return hashes + offsets[i]; }
  const std::uint64_t* end(std::size_t i) const { return hashes + offsets[i + 1]; }
};

// Union number g is of the sketches members[groups[g]] .. members[groups[g + 1] - 1], trimmed to k[g] hashes (0: not
// trimmed), θ then being the (k+1)-th smallest hash. An empty group is the empty set. Trimming commutes with uniting:
// whatever the grouping and the order of several calls, the result is the same.
SketchColumn unite(const SketchView& view, const std::int64_t* groups, const std::int64_t* members,
                   const std::int64_t* k, std::size_t n_groups);

// Copies of some sketches, in the order of `members`.
SketchColumn take(const SketchView& view, const std::int64_t* members, std::size_t n);

enum class PairOperation { intersect, subtract };

// Result i combines sketches left[i] and right[i] at the lesser θ.
SketchColumn combine(const SketchView& view, const std::int64_t* left, const std::int64_t* right, std::size_t n,
                     PairOperation operation);

// out[3i..3i+2]: hashes in both, in left[i], in right[i], all below the lesser θ of the two.
void overlaps(const SketchView& view, const std::int64_t* left, const std::int64_t* right, std::size_t n,
              int n_threads, std::int64_t* out);

// Keeps the hashes of the sketches whose fold, 0 to n_folds - 1, is (keep = true) or is not (false) the given one. A
// fold comes from a remix of all bits of a hash, so that it says nothing about how small the hash is. Folds of one salt
// lie inside each other; those of another salt are independent of them.
SketchColumn take_fold(const SketchView& view, std::uint64_t n_folds, std::uint64_t fold, bool keep,
                       std::uint64_t salt);

// Keeps a share of the hashes (keep = true), or the others.
SketchColumn take_share(const SketchView& view, double share, bool keep, std::uint64_t salt);

// The keys of a batch with their levels (see sieve.h).
struct SiftedKeys {
  const std::uint64_t* hashes;
  const std::uint8_t* levels;
  const std::int32_t* classes;
  std::size_t n;
};

// Many growing sketches. Each keeps the k + 1 smallest distinct hashes it was offered; pending ones wait, unsorted and
// perhaps repeated, until there are as many again. Memory: at most 2(k + 1) hashes each. Calls that touch different
// samplers may run at the same time.
class Samplers {
 public:
  Samplers(std::size_t n, std::int64_t k) : k_(static_cast<std::size_t>(k)), samplers_(n) {}

  std::size_t size() const { return samplers_.size(); }
  void grow(std::size_t n) { samplers_.resize(n); }

  // Row i goes to the sampler ids[classes[i] * n_codes + codes[i]], unless its hash is 0, or its class or code or that
  // id is negative.
  void add_codes(const std::uint64_t* hashes, const std::int32_t* classes, const std::int32_t* codes, std::size_t n,
                 const std::int64_t* ids, std::size_t n_codes);

  // Row i goes to the sampler ids[classes[i]] if low <= flags[i] <= high, or if its bit is set.
  void add_flags(const SiftedKeys& keys, const std::uint8_t* flags, const std::int64_t* ids, std::size_t n_classes,
                 std::uint8_t low, std::uint8_t high);
  void add_bits(const SiftedKeys& keys, const Bits& bits, const std::int64_t* ids, std::size_t n_classes);

  // Rows of a lesser level are of no use to any of these samplers.
  std::uint8_t least_level(const std::int64_t* ids, std::size_t n) const;

  SketchColumn finish() const;

 private:
  struct Sampler {
    std::uint64_t theta = kMaxTheta;  // only hashes below it can still matter
    std::vector<std::uint64_t> held;
  };
  void offer(Sampler& sampler, std::uint64_t hash) {
    if (hash < sampler.theta) {
      sampler.held.push_back(hash);
      if (sampler.held.size() >= 2 * (k_ + 1)) {
        prune(sampler);
      }
    }
  }
  void prune(Sampler& sampler) const;
  template <class Sift>
  void add_sifted(const SiftedKeys& keys, const std::int64_t* ids, std::size_t n_classes, const Sift& sift);

  std::size_t k_;
  std::vector<Sampler> samplers_;
};

}  // namespace thetatree
