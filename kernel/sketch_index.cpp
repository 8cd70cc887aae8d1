// The keys of one class: which sketches hold them, and how far each sketch can be trusted.
#include "sketch_index.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

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
  known_source_ = source.known;
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
  if (flat_) return;
  if (!told_by_own_) held = held_hashes();
  restrict_to(sketches, source, held);
  index(std::move(held));
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
// fits the nearest cache: half the time of sorting everything at once.
void ClassIndex::list(uint64_t limit) {
  const int32_t n_slots = static_cast<int32_t>(theta_.size());
  int64_t n = 0;
  for (int32_t slot = 0; slot < n_slots; ++slot) n += held_below(slot, limit);
  start_index(n);
  const uint64_t n_stretches = static_cast<uint64_t>(n / std::max<int64_t>(512, 4 * n_slots) + 1);
  const uint64_t width = limit / n_stretches + 1;
  std::vector<const uint64_t*> at = first_;
  std::vector<Held> stretch, swap;
  for (uint64_t low = 0, i = 0; i < n_stretches; ++i, low += width) {
    const uint64_t high = i + 1 < n_stretches ? low + width : limit;
    const bool all = high >= kThetaOne;
    stretch.clear();
    for (int32_t slot = 0; slot < n_slots; ++slot)
      for (; at[slot] != last_[slot] && (all || *at[slot] < high); ++at[slot])
        stretch.push_back({*at[slot], static_cast<uint32_t>(slot)});
    sort_by_hash(stretch, swap, low);
    add_to_index(stretch);
  }
  end_index();
  flat_ = false;
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

// Passes over the leading bits put all but a few hashes in order, since hashes are spread evenly; insertion does
// the rest. A file may hold what no hash function gave, so insertion is called off where it has much to do.
void ClassIndex::sort_by_hash(std::vector<Held>& items, std::vector<Held>& swap, uint64_t low) {
  const int bits = items.size() < 4096 ? 8 : 11;
  const uint64_t mask = (1ULL << bits) - 1;
  uint64_t most = 0;
  for (const Held& item : items) most = std::max(most, item.hash - low);
  const int n_passes = 1 + static_cast<int>(std::bit_width(items.size()) - 1) / bits;
  const int from = std::max(0, static_cast<int>(std::bit_width(most)) - n_passes * bits);
  swap.resize(items.size());
  std::vector<uint32_t> count(mask + 1);
  for (int pass = 0; pass < n_passes; ++pass) {
    const int shift = from + pass * bits;
    std::fill(count.begin(), count.end(), 0);
    for (const Held& item : items) ++count[(item.hash - low) >> shift & mask];
    uint32_t total = 0;
    for (uint32_t& place : count) total += std::exchange(place, total);
    for (const Held& item : items) swap[count[(item.hash - low) >> shift & mask]++] = item;
    items.swap(swap);
  }
  size_t moves = 0;
  for (size_t i = 1; i < items.size(); ++i) {
    if (items[i - 1].hash <= items[i].hash) continue;
    const Held item = items[i];
    size_t j = i;
    for (; j > 0 && item.hash < items[j - 1].hash; --j) items[j] = items[j - 1];
    items[j] = item;
    moves += i - j;
    if (moves > 8 * items.size() + 1000) {
      std::sort(items.begin(), items.end(), [](const Held& a, const Held& b) { return a.hash < b.hash; });
      return;
    }
  }
}

void ClassIndex::index(std::vector<Held>&& held) {
  std::vector<Held> swap;
  sort_by_hash(held, swap, 0);
  start_index(static_cast<int64_t>(held.size()));
  add_to_index(held);
  end_index();
}

void ClassIndex::start_index(int64_t n_held) {
  posting_start_.assign(theta_.size() + 1, 0);
  slot_.reserve(n_held);
}

void ClassIndex::add_to_index(const std::vector<Held>& held) {
  for (const Held& item : held) {
    if (hash_.empty() || item.hash != hash_.back()) {
      hash_.push_back(item.hash);
      slot_start_.push_back(static_cast<int64_t>(slot_.size()));
    }
    slot_.push_back(item.slot);
    ++posting_start_[item.slot + 1];
  }
}

void ClassIndex::end_index() {
  slot_start_.push_back(static_cast<int64_t>(slot_.size()));
  for (size_t s = 0; s < theta_.size(); ++s) posting_start_[s + 1] += posting_start_[s];
  posting_.resize(slot_.size());
  std::vector<int64_t> at(posting_start_.begin(), posting_start_.end() - 1);
  for (int64_t key = 0; key < n_keys(); ++key)
    for (int64_t i = slot_start_[key]; i < slot_start_[key + 1]; ++i)
      posting_[at[slot_[i]]++] = static_cast<uint32_t>(key);
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

bool ClassIndex::missing_together(int32_t a, int32_t b) const {
  return a != b && known_source_[a] >= 0 && known_source_[a] == known_source_[b];
}

void ClassIndex::mark(int32_t slot, const std::vector<uint32_t>& keys, uint8_t bit,
                      std::vector<uint8_t>& marks) const {
  const uint32_t *held = keys_begin(slot), *const last = keys_end(slot);
  const int64_t n = static_cast<int64_t>(keys.size()), n_held = last - held;
  constexpr int64_t kMuchLess = 16;  // then looking each up beats walking along both
  if (n_held * kMuchLess < n) {
    auto from = keys.begin();
    for (; held != last && from != keys.end(); ++held) {
      from = std::lower_bound(from, keys.end(), *held);
      if (from != keys.end() && *from == *held) marks[from - keys.begin()] |= bit;
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
