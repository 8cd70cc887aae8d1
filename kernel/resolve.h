// Counting a node's keys from sketches, at the highest θ that any expression of the node allows.
//
//   slot      one sketch of a class: a value's present or absent keys, a feature's known keys, the total
//   unit      one value of one feature; a flag has one, a threshold feature one per cut
//   cell      what a key can be for a feature: below the first cut, between two cuts, one of the
//             categories, none of them, missing
//   decision  how sketches tell whether a key's cell is among the allowed ones: it is below `theta`
//   base      a sketch that holds every key of the node below its θ
//
// A node allows some cells of some features. Every key below τ = min(best base, all decisions) is held
// and rightly placed, so its keys below τ are counted, not guessed.
#pragma once

#include <cstdint>
#include <vector>

namespace thetatree {

constexpr uint64_t kThetaOne = 0x7fffffffffffffffULL;

enum class CellKind : uint8_t { flag = 0, category = 1, threshold = 2 };

// A feature's units are [first_unit, first_unit + n_units). Its cells: by unit, then "above all cuts" or
// "none of them" (a flag: absent), then missing.
struct SketchFeature {
  CellKind kind = CellKind::flag;
  int32_t first_unit = 0;
  int32_t n_units = 1;
  int32_t n_cells() const { return n_units + 2; }
  int32_t missing_cell() const { return n_units + 1; }
};

// Sketches in one buffer, ascending hashes below θ each.
struct SketchBuffer {
  const uint64_t* hashes = nullptr;
  const int64_t* start = nullptr;
  const uint64_t* theta = nullptr;
};

// Where a class's sketches stand in the buffer; -1 where there is none. An absent sketch is named only
// where it is the complement of the present one among the known keys.
struct ClassSource {
  int64_t total = -1;
  std::vector<int64_t> present, absent;  // by unit
  std::vector<int64_t> known;            // by feature; -1: the total
  // Sketches of all keys serve a class whose own keys only one sketch tells (class-free) ...
  int64_t only = -1;
  // ... or everybody but a class (one-vs-all): then the sketches of that class.
  int64_t other_total = -1;
  std::vector<int64_t> other_present, other_absent;
};

// Which cells of which features a node allows. Features that allow all their cells are not listed.
struct Constraint {
  int32_t feature = 0;
  std::vector<char> allowed;  // by cell
};
using Constraints = std::vector<Constraint>;

// passes = (any of `in`, or `unless_known` is set and does not hold it) and none of `out`.
struct Decision {
  bool everything = false;  // nothing is excluded
  bool needs_in = false;
  std::vector<int32_t> in, out;
  int32_t unless_known = -1;
  uint64_t theta = kThetaOne;
  uint64_t base = 0;
};

struct Estimate {
  double held = 0;
  double tau = 1;
  double count() const { return held / tau; }
  double variance() const { return count() * (1 - tau) / tau; }
};

// All held keys of a class, each with its slots; and each slot with its keys.
class ClassIndex {
 public:
  ClassIndex(const SketchBuffer& sketches, const ClassSource& source,
             const std::vector<SketchFeature>& features);

  int64_t n_keys() const { return static_cast<int64_t>(hash_.size()); }
  int64_t n_slots() const { return static_cast<int64_t>(theta_.size()); }
  uint64_t hash(int64_t key) const { return hash_[key]; }
  uint64_t theta(int32_t slot) const { return theta_[slot]; }
  uint64_t total_theta() const { return theta_[total_slot_]; }
  bool none_is_empty(int32_t feature) const { return none_empty_[feature] != 0; }
  bool has_known(int32_t feature) const { return exists_[known_slot(feature)]; }
  const uint32_t* slots_begin(int64_t key) const { return slot_.data() + slot_start_[key]; }
  const uint32_t* slots_end(int64_t key) const { return slot_.data() + slot_start_[key + 1]; }
  const uint32_t* keys_begin(int32_t slot) const { return posting_.data() + posting_start_[slot]; }
  const uint32_t* keys_end(int32_t slot) const { return posting_.data() + posting_start_[slot + 1]; }

  // The best decision for a set of allowed cells.
  Decision decide(int32_t feature, const std::vector<char>& allowed) const;
  bool passes(const Decision& decision, int64_t key) const;
  // Where the class itself is decided, given the decisions on the way.
  uint64_t class_theta(const std::vector<Decision>& decisions) const;
  int64_t keys_below(uint64_t theta) const;

 private:
  int32_t present_slot(int32_t unit) const { return unit; }
  int32_t absent_slot(int32_t unit) const { return n_units_ + unit; }
  int32_t known_slot(int32_t feature) const { return 2 * n_units_ + feature; }
  bool holds(int64_t key, int32_t slot) const;
  Decision decide_flag(int32_t feature, bool present, bool absent, bool missing) const;
  Decision decide_cuts(int32_t feature, const std::vector<char>& allowed) const;
  Decision decide_category(int32_t feature, const std::vector<char>& allowed) const;
  void find_empty_cells();

  const std::vector<SketchFeature>& features_;
  int32_t n_units_ = 0;
  int32_t total_slot_ = 0;
  std::vector<uint64_t> theta_;        // by slot
  std::vector<char> exists_;           // by slot
  std::vector<uint64_t> other_theta_;  // by slot: where the other class's sketch decides the class
  uint64_t class_theta_ = kThetaOne;
  std::vector<uint64_t> hash_;
  std::vector<int64_t> slot_start_, posting_start_;
  std::vector<uint32_t> slot_, posting_;
  std::vector<char> none_empty_;  // by feature: no held key is outside all categories
};

// A node of one class: its constraints resolved, its keys listed, its slots counted.
class ClassNode {
 public:
  ClassNode(const ClassIndex& index, const Constraints& constraints);
  // The same for a node below `above`, whose keys are narrowed down where that loses none.
  ClassNode(const ClassNode& above, const Constraints& constraints);

  Estimate own() const;
  // The keys that are also in these cells of a feature. `constraints` are the node's.
  Estimate among(int32_t feature, const std::vector<char>& allowed) const;
  uint64_t tau() const { return tau_; }
  const std::vector<uint32_t>& keys() const { return keys_; }

 private:
  void resolve(const Constraints& constraints);
  void list_from(const uint32_t* begin, const uint32_t* end);
  void count() const;
  int64_t bits(int32_t slot, uint64_t tau) const;
  int64_t size_below(uint64_t tau) const;
  double held(const Decision& decision, uint64_t tau) const;

  const ClassIndex* index_;
  Constraints constraints_;
  std::vector<Decision> decisions_;
  uint64_t decided_ = kThetaOne;  // least decision
  uint64_t base_ = 0;             // best base
  uint64_t tau_ = kThetaOne;
  std::vector<uint32_t> keys_;
  mutable bool counted_ = false;
  mutable std::vector<int32_t> all_, low_;  // by slot: keys in the list; those below tau()
};

}  // namespace thetatree
