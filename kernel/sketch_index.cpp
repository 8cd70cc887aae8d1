// The keys of one class: which sketches hold them, and how far each sketch can be trusted.
#include "sketch_index.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "hash_sort.h"
#include "interrupt.h"
#include "row_table.h"

namespace thetatree {
namespace {

uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

}  // namespace

ClassIndex::ClassIndex(const SketchBuffer& sketches, const ClassSource& source,
                       const std::vector<SketchFeature>& features)
    : features_(features) {
  n_units_ = static_cast<int32_t>(source.present.size());
  const int32_t n_features = static_cast<int32_t>(features.size());
  total_slot_ = 2 * n_units_ + n_features;
  std::vector<int64_t> sketch_of(total_slot_ + 1, -1);
  for (int32_t u = 0; u < n_units_; ++u) {
    sketch_of[present_slot(u)] = source.present[u];
    sketch_of[absent_slot(u)] = source.absent[u];
  }
  for (int32_t f = 0; f < n_features; ++f) sketch_of[known_slot(f)] = source.known[f];
  find_groups(source.known);
  sketch_of[total_slot_] = source.total;

  theta_.assign(sketch_of.size(), 0);
  exists_.assign(sketch_of.size(), 0);
  other_theta_.assign(sketch_of.size(), 0);
  first_.assign(sketch_of.size(), nullptr);
  last_.assign(sketch_of.size(), nullptr);
  for (size_t slot = 0; slot < sketch_of.size(); ++slot) {
    const int64_t s = sketch_of[slot];
    if (s < 0) continue;
    exists_[slot] = 1;
    theta_[slot] = least(sketches.theta[s], kThetaOne);
    first_[slot] = sketches.hashes + sketches.start[s];
    last_[slot] = sketches.hashes + sketches.start[s + 1];
  }
  find_empty_cells();
  find_cover();
  std::vector<Held> held;
  flat_ = source.only < 0 && source.other_total < 0 && !widen(sketches, source, held);
  if (!flat_) {
    if (!told_by_own_) held = held_hashes();
    restrict_to(sketches, source, held);
    index(std::move(held));
  }
  find_cut_sides();
}

int64_t ClassIndex::held_below(int32_t slot, uint64_t theta) const {
  if (theta >= theta_[slot]) return last_[slot] - first_[slot];
  return std::lower_bound(first_[slot], last_[slot], theta) - first_[slot];
}

uint64_t ClassIndex::feature_theta(int32_t feature) const {
  uint64_t most = theta_[known_slot(feature)];
  const SketchFeature& f = features_[feature];
  for (int32_t u = f.first_unit; u < f.first_unit + f.n_units; ++u)
    most = std::max({most, theta_[present_slot(u)], theta_[absent_slot(u)]});
  return most;
}

// Each sketch is in order already, so all of them are walked along together, a stretch of hashes at a time that
// fits the nearest cache.
void ClassIndex::list(uint64_t limit) {
  start_index();
  std::vector<Cursor> cursors;
  int64_t n = 0;
  for (int32_t slot = 0; slot < static_cast<int32_t>(theta_.size()); ++slot) {
    if (!exists_[slot]) continue;
    const int64_t below = held_below(slot, limit);
    cursors.push_back({first_[slot], first_[slot] + below, slot});
    n += below;
  }
  list_lists(limit, list_rows(limit, cursors), n, cursors);
  end_index();
  flat_ = false;
}

// Rows are gathered by table, which takes a third of the time of sorting. Gives the hash from where on it is no longer
// worth it: keys get rarer in sketches as hashes grow.
uint64_t ClassIndex::list_rows(uint64_t limit, std::vector<Cursor>& cursors) {
  int bits = 9;
  while (bits > 5 && (8 * n_words_ + 8) << bits > 48 * 1024) --bits;
  // A quarter of the places taken, if the class has as many keys as its total says.
  const double density = static_cast<double>(covered_below(cover_theta_)) / static_cast<double>(cover_theta_);
  int width = 62;
  while (width > bits && density * std::ldexp(4.0, width - bits) > 1) --width;
  RowTable table(n_words_, bits);
  std::vector<const uint64_t*> next(cursors.size());
  for (uint64_t low = 0; low < limit; low += 1ULL << width) {
    poll();
    const uint64_t high = limit - low > 1ULL << width ? low + (1ULL << width) : limit;
    table.start(low, width);
    int64_t n_items = 0;
    bool crowded = false;
    for (size_t i = 0; i < cursors.size() && !crowded; ++i) {
      const int32_t column = column_[cursors[i].slot];
      const uint64_t* at = cursors[i].at;
      for (; at != cursors[i].last && *at < high && !crowded; ++at) crowded = !table.add(*at, column);
      n_items += at - cursors[i].at;
      next[i] = at;
    }
    if (crowded || n_items < n_words_ * table.size()) return low;
    table.drain([&](uint64_t hash, const uint64_t* row) {
      hash_.push_back(hash);
      rows_.insert(rows_.end(), row, row + n_words_);
    });
    n_rows_ = n_keys();
    for (size_t i = 0; i < cursors.size(); ++i) cursors[i].at = next[i];
  }
  return limit;
}

// The hashes from `low` on.
void ClassIndex::list_lists(uint64_t limit, uint64_t low, int64_t n, std::vector<Cursor>& cursors) {
  const uint64_t n_stretches = n / std::max<int64_t>(512, 4 * static_cast<int64_t>(cursors.size())) + 1;
  const uint64_t width = (limit - low) / n_stretches + 1;
  std::vector<Held> stretch, swap;
  for (uint64_t high = low; high < limit; low = high) {
    poll();
    high = limit - low > width ? low + width : limit;
    stretch.clear();
    for (Cursor& cursor : cursors)
      for (; cursor.at != cursor.last && (high == limit || *cursor.at < high); ++cursor.at)
        stretch.push_back({*cursor.at, static_cast<uint32_t>(cursor.slot)});
    sort_by_hash(stretch, swap, low, hash_of);
    add_to_index(stretch);
  }
}

std::vector<ClassIndex::Held> ClassIndex::held_hashes() const {
  std::vector<Held> held;
  for (size_t slot = 0; slot < theta_.size(); ++slot)
    for (const uint64_t* hash = first_[slot]; hash != last_[slot]; ++hash)
      held.push_back({*hash, static_cast<uint32_t>(slot)});
  return held;
}

// Sketches of all keys made to tell of one class, or of all but one.
void ClassIndex::restrict_to(const SketchBuffer& sketches, const ClassSource& source, std::vector<Held>& held) {
  const auto holds_hash = [&](int64_t s, uint64_t hash) {
    return std::binary_search(sketches.hashes + sketches.start[s], sketches.hashes + sketches.start[s + 1], hash);
  };
  if (source.only >= 0) {
    class_theta_ = least(sketches.theta[source.only], kThetaOne);
    std::erase_if(held, [&](const Held& item) { return !holds_hash(source.only, item.hash); });
    // A key of the class that no feature sketch and no total holds is the class's all the same.
    for (int64_t i = sketches.start[source.only]; i < sketches.start[source.only + 1]; ++i)
      if (!holds_hash(source.total, sketches.hashes[i]))
        held.push_back({sketches.hashes[i], static_cast<uint32_t>(total_slot_)});
    cover_theta_ = std::max(cover_theta_, class_theta_);
  }
  if (source.other_total < 0) return;
  class_theta_ = least(sketches.theta[source.other_total], kThetaOne);
  std::vector<uint64_t> others;
  const auto add = [&](int64_t s, int32_t slot) {
    if (s < 0) return;
    others.insert(others.end(), sketches.hashes + sketches.start[s], sketches.hashes + sketches.start[s + 1]);
    if (slot >= 0) other_theta_[slot] = least(sketches.theta[s], kThetaOne);
  };
  add(source.other_total, -1);
  for (int32_t u = 0; u < n_units_; ++u) {
    add(source.other_present[u], present_slot(u));
    add(source.other_absent[u], absent_slot(u));
  }
  for (int32_t f = 0; f < static_cast<int32_t>(features_.size()); ++f) add(source.other_known[f], known_slot(f));
  std::sort(others.begin(), others.end());
  std::erase_if(held, [&](const Held& item) {
    return std::binary_search(others.begin(), others.end(), item.hash);
  });
}

// What a sketch of all keys says of a key holds for the keys that the class's own sketches say are its. Where
// one reaches farther than the class's own, it takes its place. False where none does.
bool ClassIndex::widen(const SketchBuffer& sketches, const ClassSource& source, std::vector<Held>& held) {
  if (source.whole_total < 0) return false;
  std::vector<std::pair<int32_t, int64_t>> wider;
  const auto offer = [&](int32_t slot, int64_t s, bool may_be_new) {
    if (s < 0 || (!exists_[slot] && !may_be_new)) return;
    if (!exists_[slot] || least(sketches.theta[s], kThetaOne) > theta_[slot]) wider.emplace_back(slot, s);
  };
  for (int32_t u = 0; u < n_units_; ++u) {
    offer(present_slot(u), source.whole_present[u], false);
    offer(absent_slot(u), source.whole_absent[u], true);
  }
  for (int32_t f = 0; f < static_cast<int32_t>(features_.size()); ++f)
    offer(known_slot(f), source.whole_known[f], false);
  if (wider.empty()) return false;
  told_by_own_ = true;
  class_theta_ = cover_theta_;
  other_theta_ = theta_;
  held = held_hashes();
  std::vector<uint64_t> own(held.size());
  std::transform(held.begin(), held.end(), own.begin(), [](const Held& item) { return item.hash; });
  std::sort(own.begin(), own.end());
  own.erase(std::unique(own.begin(), own.end()), own.end());
  for (const auto& [slot, s] : wider) {
    theta_[slot] = least(sketches.theta[s], kThetaOne);
    exists_[slot] = 2;
  }
  std::erase_if(held, [&](const Held& item) { return exists_[item.slot] == 2; });
  for (const auto& [slot, s] : wider) {
    exists_[slot] = 1;
    for (int64_t i = sketches.start[s]; i < sketches.start[s + 1]; ++i)
      if (std::binary_search(own.begin(), own.end(), sketches.hashes[i]))
        held.push_back({sketches.hashes[i], static_cast<uint32_t>(slot)});
  }
  return true;
}

void ClassIndex::index(std::vector<Held>&& held) {
  std::vector<Held> swap;
  sort_by_hash(held, swap, 0, hash_of);
  start_index();
  constexpr size_t kStretch = 4096;  // what is told of a stretch's keys holds for all of them
  std::vector<Held> stretch;
  for (size_t begin = 0; begin < held.size();) {
    poll();
    size_t end = std::min(begin + kStretch, held.size());
    while (end < held.size() && held[end].hash == held[end - 1].hash) ++end;
    stretch.assign(held.begin() + static_cast<int64_t>(begin), held.begin() + static_cast<int64_t>(end));
    add_to_index(stretch);
    begin = end;
  }
  end_index();
}

void ClassIndex::start_index() {
  int32_t n_columns = 0;
  for (const char exists : exists_) column_.push_back(exists ? n_columns++ : -1);
  n_words_ = (n_columns + 63) / 64;
  posting_start_.assign(n_columns + 1, 0);
}

// A row is worth its words where the keys of the stretch are in more sketches than that.
void ClassIndex::add_to_index(const std::vector<Held>& held) {
  if (!ends_rows_) {
    int64_t n_keys = 0;
    for (size_t i = 0; i < held.size(); ++i) n_keys += i == 0 || held[i].hash != held[i - 1].hash;
    ends_rows_ = static_cast<int64_t>(held.size()) < n_words_ * n_keys;
  }
  if (ends_rows_) add_lists(held);
  else add_rows(held);
}

void ClassIndex::add_rows(const std::vector<Held>& held) {
  for (const Held& item : held) {
    if (hash_.empty() || item.hash != hash_.back()) {
      hash_.push_back(item.hash);
      rows_.resize(rows_.size() + n_words_);
    }
    const int32_t column = column_[item.slot];
    rows_[rows_.size() - n_words_ + column / 64] |= 1ULL << (column % 64);
  }
  n_rows_ = n_keys();
}

void ClassIndex::add_lists(const std::vector<Held>& held) {
  for (const Held& item : held) {
    if (hash_.empty() || item.hash != hash_.back()) {
      hash_.push_back(item.hash);
      list_start_.push_back(static_cast<int64_t>(list_.size()));
    }
    const int32_t column = column_[item.slot];
    list_.push_back(static_cast<uint32_t>(column));
    ++posting_start_[column + 1];
  }
}

void ClassIndex::end_index() {
  list_start_.push_back(static_cast<int64_t>(list_.size()));
  for (size_t c = 0; c + 1 < posting_start_.size(); ++c) posting_start_[c + 1] += posting_start_[c];
  posting_.resize(list_.size());
  std::vector<int64_t> at(posting_start_.begin(), posting_start_.end() - 1);
  for (int64_t key = n_rows_; key < n_keys(); ++key)
    for (const uint32_t* column = columns_begin(key); column != columns_end(key); ++column)
      posting_[at[*column]++] = static_cast<uint32_t>(key);
}

// Whether "none of the categories" can happen: not where the set says so, nor where all is exact and the
// counts agree (categories exclude each other and lie inside the known keys).
void ClassIndex::find_empty_cells() {
  none_empty_.assign(features_.size(), 0);
  for (int32_t f = 0; f < static_cast<int32_t>(features_.size()); ++f) {
    const SketchFeature& feature = features_[f];
    if (feature.kind != CellKind::category) continue;
    const int32_t whole = has_known(f) ? known_slot(f) : total_slot_;
    bool exact = theta_[whole] >= kThetaOne;
    int64_t n = 0;
    for (int32_t u = feature.first_unit; u < feature.first_unit + feature.n_units; ++u) {
      exact = exact && theta_[present_slot(u)] >= kThetaOne;
      n += held_below(present_slot(u), kThetaOne);
    }
    none_empty_[f] = feature.complete || (exact && n == held_below(whole, kThetaOne));
  }
}

// Sketches that part the class between them hold more of it than its total does: of c categories of one
// size each has about c times the total's θ.
void ClassIndex::find_cover() {
  cover_ = {total_slot_};
  cover_theta_ = theta_[total_slot_];
  for (int32_t f = 0; f < static_cast<int32_t>(features_.size()); ++f) {
    const SketchFeature& feature = features_[f];
    std::vector<int32_t> parts;
    if (has_known(f)) continue;
    if (feature.kind == CellKind::category && none_empty_[f])
      for (int32_t u = 0; u < feature.n_units; ++u) parts.push_back(present_slot(feature.first_unit + u));
    if (feature.kind == CellKind::flag && exists_[absent_slot(feature.first_unit)])
      parts = {present_slot(feature.first_unit), absent_slot(feature.first_unit)};
    if (parts.empty()) continue;
    uint64_t theta = kThetaOne;
    for (const int32_t slot : parts) theta = least(theta, theta_[slot]);
    if (theta <= cover_theta_) continue;
    cover_ = parts;
    cover_theta_ = theta;
  }
}

int64_t ClassIndex::covered_below(uint64_t theta) const {
  int64_t n = 0;
  for (const int32_t slot : cover_) n += held_below(slot, theta);
  return n;
}

void ClassIndex::find_groups(const std::vector<int64_t>& known) {
  groups_.emplace_back();
  std::unordered_map<int64_t, int32_t> group_of;
  for (int32_t f = 0; f < static_cast<int32_t>(known.size()); ++f) {
    group_.push_back(-1);
    if (known[f] < 0) continue;
    const auto [found, added] = group_of.try_emplace(known[f], static_cast<int32_t>(groups_.size()) - 1);
    if (added) groups_.emplace_back();
    group_[f] = found->second;
    groups_[group_[f] + 1].push_back(f);
  }
}

void ClassIndex::mark(int32_t slot, const uint32_t* keys, int64_t n, uint8_t bit, uint8_t* marks) const {
  const uint32_t *held = listed_begin(slot), *const last = listed_end(slot);
  const int64_t n_held = last - held;
  constexpr int64_t kMuchLess = 16;  // then looking each up beats walking along both
  if (n_held * kMuchLess < n) {
    const uint32_t* from = keys;
    for (; held != last && from != keys + n; ++held) {
      from = std::lower_bound(from, keys + n, *held);
      if (from != keys + n && *from == *held) marks[from - keys] |= bit;
    }
    return;
  }
  for (int64_t i = 0; i < n && held != last; ++i) {
    if (n * kMuchLess < n_held) held = std::lower_bound(held, last, keys[i]);
    else
      while (held != last && *held < keys[i]) ++held;
    if (held != last && *held == keys[i]) marks[i] |= bit;
  }
}

int64_t ClassIndex::keys_below(uint64_t theta) const {
  if (theta >= kThetaOne) return n_keys();
  return std::lower_bound(hash_.begin(), hash_.end(), theta) - hash_.begin();
}

}  // namespace thetatree
