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

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
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
  bool complete = false;  // category: every known key has one of the units
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
  std::vector<int64_t> other_present, other_absent, other_known;
  // The class that one-vs-all is about: what sketches of all keys say holds for its keys too.
  int64_t whole_total = -1;
  std::vector<int64_t> whole_present, whole_absent, whole_known;
};

// Which cells of which features a node allows. Features that allow all their cells are not listed.
struct Constraint {
  int32_t feature = 0;
  std::vector<char> allowed;  // by cell
};
using Constraints = std::vector<Constraint>;

// A few slots; most decisions need one, and there are too many decisions to ask the heap for each.
class Slots {
 public:
  Slots() = default;
  Slots(std::initializer_list<int32_t> slots) {
    for (const int32_t slot : slots) push_back(slot);
  }
  void push_back(int32_t slot) {
    if (n_ < kFew) few_[n_] = slot;
    else if (n_ == kFew) many_.assign(few_, few_ + kFew);
    if (n_ >= kFew) many_.push_back(slot);
    ++n_;
  }
  const int32_t* begin() const { return n_ <= kFew ? few_ : many_.data(); }
  const int32_t* end() const { return begin() + n_; }
  int32_t operator[](int i) const { return begin()[i]; }
  // The only one, or -1 where there is none.
  int32_t only() const { return n_ ? begin()[0] : -1; }

 private:
  static constexpr int kFew = 4;
  int32_t n_ = 0;
  int32_t few_[kFew] = {};
  std::vector<int32_t> many_;
};

// passes = (any of `in`, or `unless_known` is set and does not hold it) and none of `out`.
struct Decision {
  bool everything = false;  // nothing is excluded
  bool needs_in = false;
  Slots in, out;
  int32_t unless_known = -1;
  uint64_t theta = kThetaOne;
  uint64_t base = 0;
};

Decision better(Decision a, Decision b);

// How one side of a cut is decided where nothing else is asked of its feature: the same at every such node, so
// it is worked out once. A side needs one sketch to be in and one not to be in at most.
struct CutSide {
  uint64_t theta = kThetaOne, base = 0;
  uint64_t told = 0;  // up to where the class is told among these cells
  int32_t in = -1, out = -1, unless_known = -1;
};

struct Estimate {
  double held = 0;
  double tau = 1;
  double count() const { return held / tau; }
  double variance() const { return count() * (1 - tau) / tau; }
};

// All held keys of a class, in the order of their hashes, each with its slots.
//
// Keys of small hashes are held by many sketches, and have a row of bits each; as hashes grow fewer sketches reach
// that far, and from some hash on a key has a list of its slots, and a slot a list of its keys.
//
// Of most sets the root needs no such lists: its counts are the sketches' own. A class whose sketches are
// its own alone is therefore flat until `list` is called, with the θ above which no node below the root
// can decide anything.
class ClassIndex {
 public:
  ClassIndex(const SketchBuffer& sketches, const ClassSource& source,
             const std::vector<SketchFeature>& features);

  // Features whose known sketch is one and the same are missing together (the tags of one column).
  bool missing_together(int32_t a, int32_t b) const { return a != b && group_[a] >= 0 && group_[a] == group_[b]; }
  // All that are missing together with a feature, itself included; none where nothing is.
  const std::vector<int32_t>& missing_with(int32_t feature) const { return groups_[group_[feature] + 1]; }
  // The best sketch, or union of sketches, that holds every key of the class below its θ.
  uint64_t cover_theta() const { return cover_theta_; }

  bool flat() const { return flat_; }
  void list(uint64_t limit);
  // The highest θ of any sketch of a feature: no node that constrains the feature decides beyond it.
  uint64_t feature_theta(int32_t feature) const;
  int64_t held_below(int32_t slot, uint64_t theta) const;
  int64_t covered_below(uint64_t theta) const;

  int64_t n_keys() const { return static_cast<int64_t>(hash_.size()); }
  uint64_t hash(int64_t key) const { return hash_[key]; }
  uint64_t theta(int32_t slot) const { return theta_[slot]; }
  bool none_is_empty(int32_t feature) const { return none_empty_[feature] != 0; }
  bool has_known(int32_t feature) const { return exists_[known_slot(feature)]; }
  int64_t n_features() const { return static_cast<int64_t>(features_.size()); }

  // A column for each sketch that there is.
  int32_t column(int32_t slot) const { return column_[slot]; }
  int64_t n_columns() const { return 64 * n_words_; }
  // The keys before this one have rows, the others lists (of columns).
  int64_t n_rows() const { return n_rows_; }
  int64_t n_words() const { return n_words_; }
  const uint64_t* rows() const { return rows_.data(); }
  const uint32_t* columns_begin(int64_t key) const { return list_.data() + list_start_[key - n_rows_]; }
  const uint32_t* columns_end(int64_t key) const { return list_.data() + list_start_[key - n_rows_ + 1]; }
  // A sketch that is not there has column -1, and an empty list.
  const uint32_t* listed_begin(int32_t slot) const {
    return posting_.data() + posting_start_[std::max(column_[slot], 0)];
  }
  const uint32_t* listed_end(int32_t slot) const { return posting_.data() + posting_start_[column_[slot] + 1]; }

  // The two sides of a cut between a unit and the next; `missing`: with the missing keys.
  const CutSide& cut_side(int32_t unit, bool right, bool missing) const {
    return cut_sides_[4 * static_cast<size_t>(unit) + 2 * right + missing];
  }
  // The best decision for a set of allowed cells.
  Decision decide(int32_t feature, const std::vector<char>& allowed) const;
  // Sets a bit for each of these keys with lists, ascending, that a slot holds.
  void mark(int32_t slot, const uint32_t* keys, int64_t n, uint8_t bit, uint8_t* marks) const;
  // Up to where the class itself is told, once a key is in these cells of a feature; without any, as such.
  uint64_t class_theta() const { return class_theta_; }
  uint64_t class_theta(int32_t feature, const std::vector<char>& allowed) const;
  // Whether the class's own sketches tell it: each that holds a node whole is then a base for it as well.
  bool told_by_own() const { return told_by_own_; }
  int64_t keys_below(uint64_t theta) const;

 private:
  int32_t present_slot(int32_t unit) const { return unit; }
  int32_t absent_slot(int32_t unit) const { return n_units_ + unit; }
  int32_t known_slot(int32_t feature) const { return 2 * n_units_ + feature; }
  Decision decide_flag(int32_t feature, bool present, bool absent, bool missing) const;
  Decision decide_cuts(int32_t feature, const std::vector<char>& allowed) const;
  Decision decide_category(int32_t feature, const std::vector<char>& allowed) const;
  Decision decide_known(int32_t feature, bool known) const;
  void find_groups(const std::vector<int64_t>& known);
  void find_empty_cells();
  void find_cover();
  void find_cut_sides();

  struct Held {
    uint64_t hash;
    uint32_t slot;
  };
  struct Cursor {
    const uint64_t *at, *last;
    int32_t slot;
  };
  uint64_t list_rows(uint64_t limit, std::vector<Cursor>& cursors);
  void list_lists(uint64_t limit, uint64_t low, int64_t n, std::vector<Cursor>& cursors);
  static uint64_t hash_of(const Held& item) { return item.hash; }
  std::vector<Held> held_hashes() const;
  void restrict_to(const SketchBuffer& sketches, const ClassSource& source, std::vector<Held>& held);
  bool widen(const SketchBuffer& sketches, const ClassSource& source, std::vector<Held>& held);
  void index(std::vector<Held>&& held);
  void start_index();
  void add_to_index(const std::vector<Held>& held);
  void add_rows(const std::vector<Held>& held);
  void add_lists(const std::vector<Held>& held);
  void end_index();

  const std::vector<SketchFeature>& features_;
  bool flat_ = false;
  std::vector<const uint64_t*> first_, last_;  // by slot: its sketch's hashes
  int32_t n_units_ = 0;
  int32_t total_slot_ = 0;
  std::vector<int32_t> group_;                // by feature: which others are missing with it; -1: none
  std::vector<std::vector<int32_t>> groups_;  // the first is empty
  std::vector<int32_t> cover_;         // slots whose union holds every key of the class
  uint64_t cover_theta_ = 0;
  std::vector<uint64_t> theta_;        // by slot
  std::vector<char> exists_;           // by slot
  std::vector<uint64_t> other_theta_;  // by slot: where a sketch of one class decides the class
  uint64_t class_theta_ = kThetaOne;
  bool told_by_own_ = false;
  std::vector<uint64_t> hash_;
  std::vector<int32_t> column_;  // by slot
  int64_t n_words_ = 0, n_rows_ = 0;
  std::vector<uint64_t> rows_;
  bool ends_rows_ = false;
  std::vector<int64_t> list_start_, posting_start_;
  std::vector<uint32_t> list_, posting_;  // columns by key, keys by column
  std::vector<char> none_empty_;  // by feature: no held key is outside all categories
  std::vector<CutSide> cut_sides_;  // by unit, right, missing
};

}  // namespace thetatree
