#include "resolve.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

namespace thetatree {
namespace {

constexpr double kThetaScale = 9223372036854775808.0;

double as_share(uint64_t theta) {
  return theta >= kThetaOne ? 1.0 : static_cast<double>(theta) / kThetaScale;
}

uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

// The one that decides further; whatever holds the node is a base for either.
Decision better(Decision a, Decision b) {
  a.base = b.base = std::max(a.base, b.base);
  return b.theta > a.theta ? b : a;
}

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
  if (!told_by_own_) held = held_hashes(kThetaOne);
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

void ClassIndex::list(uint64_t limit) {
  index(held_hashes(limit));
  flat_ = false;
}

std::vector<ClassIndex::Held> ClassIndex::held_hashes(uint64_t limit) const {
  const int32_t n_slots = static_cast<int32_t>(theta_.size());
  int64_t n = 0;
  for (int32_t slot = 0; slot < n_slots; ++slot) n += held_below(slot, limit);
  std::vector<Held> held(n);
  Held* out = held.data();
  for (int32_t slot = 0; slot < n_slots; ++slot)
    for (int64_t i = 0, end = held_below(slot, limit); i < end; ++i)
      *out++ = {first_[slot][i], static_cast<uint32_t>(slot)};
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
  held = held_hashes(kThetaOne);
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

// Three passes over the leading bits put all but a few hashes in order; insertion does the rest.
void ClassIndex::sort_by_hash(std::vector<Held>& items) {
  const auto before = [](const Held& a, const Held& b) {
    return a.hash < b.hash || (a.hash == b.hash && a.slot < b.slot);
  };
  if (items.size() < 1024) {
    std::sort(items.begin(), items.end(), before);
    return;
  }
  constexpr int kBits = 11;
  constexpr uint64_t kMask = (1 << kBits) - 1;
  uint64_t most = 0;
  for (const Held& item : items) most = std::max(most, item.hash);
  const int from = std::max(0, static_cast<int>(std::bit_width(most)) - 3 * kBits);
  std::vector<Held> swap(items.size());
  std::array<std::array<uint32_t, kMask + 1>, 3> counts{};
  for (const Held& item : items)
    for (int pass = 0; pass < 3; ++pass) ++counts[pass][item.hash >> (from + pass * kBits) & kMask];
  for (int pass = 0; pass < 3; ++pass) {
    auto& count = counts[pass];
    uint32_t total = 0;
    for (auto& c : count) total += std::exchange(c, total);
    for (const Held& item : items) swap[count[item.hash >> (from + pass * kBits) & kMask]++] = item;
    items.swap(swap);
  }
  for (size_t i = 1; i < items.size(); ++i) {
    if (!before(items[i], items[i - 1])) continue;
    const Held item = items[i];
    size_t j = i;
    for (; j > 0 && before(item, items[j - 1]); --j) items[j] = items[j - 1];
    items[j] = item;
  }
}

void ClassIndex::index(std::vector<Held>&& held) {
  sort_by_hash(held);
  const size_t n_slots = theta_.size();
  slot_start_.push_back(0);
  posting_start_.assign(n_slots + 1, 0);
  slot_.reserve(held.size());
  for (size_t i = 0; i < held.size(); ++i) {
    if (i == 0 || held[i].hash != held[i - 1].hash) {
      if (i > 0) slot_start_.push_back(static_cast<int64_t>(slot_.size()));
      hash_.push_back(held[i].hash);
    }
    slot_.push_back(held[i].slot);
    ++posting_start_[held[i].slot + 1];
  }
  if (!held.empty()) slot_start_.push_back(static_cast<int64_t>(slot_.size()));
  for (size_t s = 0; s < n_slots; ++s) posting_start_[s + 1] += posting_start_[s];
  posting_.resize(held.size());
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

bool ClassIndex::holds(int64_t key, int32_t slot) const {
  return std::binary_search(slots_begin(key), slots_end(key), static_cast<uint32_t>(slot));
}

int64_t ClassIndex::keys_below(uint64_t theta) const {
  if (theta >= kThetaOne) return n_keys();
  return std::lower_bound(hash_.begin(), hash_.end(), theta) - hash_.begin();
}

Decision ClassIndex::decide(int32_t feature, const std::vector<char>& allowed) const {
  const SketchFeature& f = features_[feature];
  bool known = true, any = false;
  const bool missing = allowed[f.missing_cell()] != 0 || !has_known(feature);
  for (int32_t cell = 0; cell < f.missing_cell(); ++cell) {
    const bool impossible = f.kind == CellKind::category && cell == f.n_units && none_empty_[feature];
    known = known && (allowed[cell] || impossible);
    any = any || allowed[cell];
  }
  if (known && missing) {
    Decision all;
    all.everything = true;
    return all;
  }
  if (!any || known) return decide_known(feature, known);
  if (f.kind == CellKind::flag) return decide_flag(feature, allowed[0], allowed[1], allowed[2] != 0);
  return f.kind == CellKind::threshold ? decide_cuts(feature, allowed) : decide_category(feature, allowed);
}

// Is the value known at all? The known keys' sketch tells, or the sketches that part the known keys.
Decision ClassIndex::decide_known(int32_t feature, bool known) const {
  const SketchFeature& f = features_[feature];
  const auto by = [&](const std::vector<int32_t>& slots) {
    Decision decision;
    decision.needs_in = known;
    (known ? decision.in : decision.out) = slots;
    for (const int32_t slot : slots) decision.theta = least(decision.theta, theta_[slot]);
    if (known) decision.base = decision.theta;
    return decision;
  };
  const Decision plain = by({known_slot(feature)});
  std::vector<int32_t> parts;
  if (f.kind == CellKind::flag && exists_[absent_slot(f.first_unit)])
    parts = {present_slot(f.first_unit), absent_slot(f.first_unit)};
  if (f.kind == CellKind::category && none_empty_[feature])
    for (int32_t u = 0; u < f.n_units; ++u) parts.push_back(present_slot(f.first_unit + u));
  return parts.empty() ? plain : better(plain, by(parts));
}

// A flag by its present sketch, or by its absent one: each tells one cell apart, and with the known keys
// also the other.
Decision ClassIndex::decide_flag(int32_t feature, bool present, bool absent, bool missing) const {
  const int32_t unit = features_[feature].first_unit;
  const int32_t p = present_slot(unit), a = absent_slot(unit), k = known_slot(feature);
  const bool with_missing = missing && exists_[k];
  // The cell that is wanted (alone, or with the missing) and the sketches of it and of its opposite.
  const int32_t own = present ? p : a, opposite = present ? a : p;
  (void)absent;
  Decision by_own, by_opposite;
  by_own.theta = theta_[own];
  by_own.needs_in = true;
  by_own.in = {own};
  if (with_missing) {
    by_own.unless_known = k;
    by_own.theta = least(by_own.theta, theta_[k]);
  } else {
    by_own.base = theta_[own];
  }
  by_opposite.theta = theta_[opposite];
  by_opposite.out = {opposite};
  if (!missing && exists_[k]) {
    by_opposite.needs_in = true;
    by_opposite.in = {k};
    by_opposite.theta = least(by_opposite.theta, theta_[k]);
    by_opposite.base = theta_[k];
  }
  if (!exists_[own]) return by_opposite;
  if (!exists_[opposite]) return by_own;
  return better(by_own, by_opposite);
}

// Neighbouring cells of a number: below one cut and not below another.
Decision ClassIndex::decide_cuts(int32_t feature, const std::vector<char>& allowed) const {
  const SketchFeature& f = features_[feature];
  const int32_t k = known_slot(feature);
  const bool has_known = exists_[k], missing = allowed[f.missing_cell()] != 0;
  int32_t low = 0, high = f.n_units;
  while (!allowed[low]) ++low;
  while (!allowed[high]) --high;
  Decision decision;
  if (low > 0) {
    decision.out = {present_slot(f.first_unit + low - 1)};
    decision.theta = theta_[decision.out[0]];
  }
  const bool upper = high < f.n_units;
  if (upper || (has_known && !missing)) {
    decision.needs_in = true;
    decision.in = {upper ? present_slot(f.first_unit + high) : k};
    const uint64_t theta = theta_[decision.in[0]];
    decision.theta = least(decision.theta, theta);
    if (upper && has_known && missing) {
      decision.unless_known = k;
      decision.theta = least(decision.theta, theta_[k]);
    } else {
      decision.base = theta;
    }
  }
  return decision;
}

// Some categories: by being in one of them, or by being in none of the others.
Decision ClassIndex::decide_category(int32_t feature, const std::vector<char>& allowed) const {
  const SketchFeature& f = features_[feature];
  const int32_t k = known_slot(feature);
  const bool has_known = exists_[k], missing = allowed[f.missing_cell()] != 0;
  const bool none_allowed = allowed[f.n_units] != 0;
  Decision inside, outside;
  inside.needs_in = true;
  for (int32_t u = 0; u < f.n_units; ++u) {
    const int32_t slot = present_slot(f.first_unit + u);
    Decision& side = allowed[u] ? inside : outside;
    (allowed[u] ? side.in : side.out).push_back(slot);
    side.theta = least(side.theta, theta_[slot]);
  }
  inside.base = inside.theta;
  if (has_known && missing) {
    inside.unless_known = k;
    inside.theta = least(inside.theta, theta_[k]);
    inside.base = 0;
  }
  if (has_known && !missing) {
    outside.needs_in = true;
    outside.in = {k};
    outside.theta = least(outside.theta, theta_[k]);
    outside.base = theta_[k];
  }
  if (none_empty_[feature]) return better(inside, outside);
  return none_allowed ? outside : inside;
}

bool ClassIndex::passes(const Decision& decision, int64_t key) const {
  if (decision.everything) return true;
  if (decision.needs_in) {
    bool in = std::any_of(decision.in.begin(), decision.in.end(), [&](int32_t slot) { return holds(key, slot); });
    if (!in && decision.unless_known >= 0) in = !holds(key, decision.unless_known);
    if (!in) return false;
  }
  return std::none_of(decision.out.begin(), decision.out.end(), [&](int32_t slot) { return holds(key, slot); });
}

// A sketch of the other class that holds every key of these cells tells the class of each of them.
uint64_t ClassIndex::class_theta(int32_t feature, const std::vector<char>& allowed) const {
  const SketchFeature& f = features_[feature];
  uint64_t best = class_theta_;
  const bool missing = allowed[f.missing_cell()] != 0 && has_known(feature);
  if (missing || other_theta_.empty()) return best;
  best = std::max(best, other_theta_[known_slot(feature)]);
  if (f.kind == CellKind::flag) {
    const uint64_t p = other_theta_[present_slot(f.first_unit)], a = other_theta_[absent_slot(f.first_unit)];
    return std::max(best, allowed[0] && allowed[1] ? least(p, a) : allowed[0] ? p : a);
  }
  if (f.kind == CellKind::threshold) {
    int32_t high = f.n_units;
    while (high > 0 && !allowed[high]) --high;
    for (int32_t u = high; u < f.n_units; ++u) best = std::max(best, other_theta_[present_slot(f.first_unit + u)]);
    return best;
  }
  if (allowed[f.n_units] && !none_empty_[feature]) return best;
  uint64_t all = kThetaOne;
  bool any = false;
  for (int32_t u = 0; u < f.n_units; ++u) {
    if (!allowed[u]) continue;
    any = true;
    all = least(all, other_theta_[present_slot(f.first_unit + u)]);
  }
  return any ? std::max(best, all) : best;
}

ClassNode::ClassNode(const ClassIndex& index, const Constraints& constraints) : index_(&index) {
  take(constraints);
  if (index.flat()) return;
  std::vector<uint32_t> all(index.keys_below(decided_));
  std::iota(all.begin(), all.end(), 0u);
  list_from(all.data(), all.data() + all.size());
}

ClassNode::ClassNode(const ClassNode& above, const Constraints& constraints) : index_(above.index_) {
  take(constraints);
  if (decided_ > above.decided_) {  // a coarse decision is no longer needed: start afresh
    std::vector<uint32_t> all(index_->keys_below(decided_));
    std::iota(all.begin(), all.end(), 0u);
    list_from(all.data(), all.data() + all.size());
  } else {
    list_from(above.keys_.data(), above.keys_.data() + above.keys_.size());
  }
}

void ClassNode::take(const Constraints& constraints) {
  constraints_ = constraints;
  Resolved all = resolved(constraints);
  decisions_ = std::move(all.decisions);
  decided_ = all.decided;
  tau_ = all.tau();
}

// Values that are missing together (the tags of one column): who is known for one is known for all, and no key
// is known for one and missing for another.
void ClassNode::decide_together(const Constraints& constraints, Resolved& out) const {
  std::vector<size_t> group;
  for (size_t first = 0; first < constraints.size(); ++first) {
    group.clear();
    bool known = true, missing = true;
    for (size_t i = 0; i < constraints.size(); ++i) {
      if (i != first && !index_->missing_together(constraints[first].feature, constraints[i].feature)) continue;
      group.push_back(i);
      const std::vector<char>& allowed = constraints[i].allowed;
      known = known && std::any_of(allowed.begin(), allowed.end() - 1, [](char cell) { return cell != 0; });
      missing = missing && allowed.back();
    }
    if (group.front() < first || group.size() < 2 || (known && missing)) continue;
    if (known) decide_known_together(constraints, group, out);
    else decide_missing_together(constraints, group, missing, out);
  }
}

// It is enough that one of them, or the known keys' sketch, says "known"; the others may decide as they do best.
void ClassNode::decide_known_together(const Constraints& constraints, const std::vector<size_t>& group,
                                      Resolved& out) const {
  const size_t last = constraints.size() - 1;
  bool forced_before = false;
  std::vector<char> cells(constraints[group[0]].allowed.size(), 1);
  cells.back() = 0;
  Decision says_known = index_->decide(constraints[group[0]].feature, cells);
  size_t sayer = constraints.size();
  for (const size_t i : group) {
    std::vector<char> allowed = constraints[i].allowed;
    forced_before = forced_before || (!allowed.back() && i < last);
    allowed.back() = 0;
    Decision known = index_->decide(constraints[i].feature, allowed);
    out.told = std::max(out.told, index_->class_theta(constraints[i].feature, allowed));
    allowed.back() = 1;
    out.decisions[i] = better(known, index_->decide(constraints[i].feature, allowed));
    out.base = std::max(out.base, out.decisions[i].base);
    if (known.theta < says_known.theta) continue;
    says_known = std::move(known);
    sayer = i;
  }
  if (sayer < constraints.size()) out.decisions[sayer] = says_known;
  else out.decisions.push_back(says_known);
  if (group.back() == last && !forced_before) out.leans = sayer != last;
}

// One that says "missing" says it of all; where another says "known", no key is left.
void ClassNode::decide_missing_together(const Constraints& constraints, const std::vector<size_t>& group,
                                        bool possible, Resolved& out) const {
  Decision says_missing;
  if (!possible) {
    says_missing.needs_in = true;
    says_missing.base = kThetaOne;
  }
  bool said = false;
  size_t sayer = group.back();
  for (const size_t i : group) {
    const std::vector<char>& allowed = constraints[i].allowed;
    if (!said && std::none_of(allowed.begin(), allowed.end() - 1, [](char cell) { return cell != 0; })) sayer = i;
    said = said || sayer == i;
    out.decisions[i] = Decision{};
    out.decisions[i].everything = true;
    if (!possible) continue;
    std::vector<char> cells(allowed.size(), 0);
    cells.back() = 1;
    Decision missing = index_->decide(constraints[i].feature, cells);
    says_missing = i == group.front() ? std::move(missing) : better(says_missing, std::move(missing));
  }
  out.decisions[sayer] = std::move(says_missing);
}

ClassNode::Resolved ClassNode::resolved(const Constraints& constraints) const {
  Resolved out;
  out.base = index_->cover_theta();
  out.told = index_->class_theta();
  for (const Constraint& constraint : constraints) {
    out.decisions.push_back(index_->decide(constraint.feature, constraint.allowed));
    out.base = std::max(out.base, out.decisions.back().base);
    out.told = std::max(out.told, index_->class_theta(constraint.feature, constraint.allowed));
  }
  decide_together(constraints, out);
  for (const Decision& decision : out.decisions) {
    out.decided = least(out.decided, decision.theta);
    out.base = std::max(out.base, decision.base);
  }
  if (index_->told_by_own()) out.base = std::max(out.base, out.told);
  return out;
}

void ClassNode::list_from(const uint32_t* begin, const uint32_t* end) {
  for (const uint32_t* key = begin; key != end; ++key) {
    if (decided_ < kThetaOne && index_->hash(*key) >= decided_) break;
    if (std::all_of(decisions_.begin(), decisions_.end(),
                    [&](const Decision& decision) { return index_->passes(decision, *key); }))
      keys_.push_back(*key);
  }
}

int64_t ClassNode::size_below(uint64_t tau) const {
  if (index_->flat()) return index_->covered_below(tau);
  if (tau >= kThetaOne) return static_cast<int64_t>(keys_.size());
  return std::partition_point(keys_.begin(), keys_.end(), [&](uint32_t key) { return index_->hash(key) < tau; }) -
         keys_.begin();
}

void ClassNode::count() const {
  all_.assign(index_->n_slots(), 0);
  const int64_t n_low = size_below(tau_);
  for (int64_t i = 0; i < static_cast<int64_t>(keys_.size()); ++i) {
    if (i == n_low) low_ = all_;
    for (const uint32_t* slot = index_->slots_begin(keys_[i]); slot != index_->slots_end(keys_[i]); ++slot)
      ++all_[*slot];
  }
  if (n_low == static_cast<int64_t>(keys_.size())) low_ = all_;
  counted_ = true;
}

// Keys of the list below tau that a slot holds.
int64_t ClassNode::bits(int32_t slot, uint64_t tau) const {
  if (index_->flat()) return index_->held_below(slot, tau);
  if (!counted_) count();
  if (tau >= least(index_->theta(slot), decided_)) return all_[slot];
  if (tau == tau_) return low_[slot];
  const int64_t last = index_->keys_below(tau);
  int64_t n = 0;
  auto key = keys_.begin();
  for (const uint32_t* held = index_->keys_begin(slot); held != index_->keys_end(slot) && *held < last; ++held) {
    key = std::lower_bound(key, keys_.end(), *held);
    if (key == keys_.end()) break;
    n += *key == *held;
  }
  return n;
}

// The sets that a decision names lie inside each other or apart, so that counts add and subtract.
double ClassNode::held(const Decision& decision, uint64_t tau) const {
  int64_t n = 0;
  if (decision.everything || !decision.needs_in) n = size_below(tau);
  else
    for (const int32_t slot : decision.in) n += bits(slot, tau);
  if (decision.unless_known >= 0) n += size_below(tau) - bits(decision.unless_known, tau);
  for (const int32_t slot : decision.out) n -= bits(slot, tau);
  return static_cast<double>(n);
}

Estimate ClassNode::own() const {
  return {static_cast<double>(size_below(tau_)), as_share(tau_)};
}

Estimate ClassNode::among(int32_t feature, const std::vector<char>& allowed) const {
  Constraints with;
  for (const Constraint& constraint : constraints_)
    if (constraint.feature != feature) with.push_back(constraint);
  with.push_back({feature, allowed});
  const Resolved all = resolved(with);
  const uint64_t tau = all.tau();
  // Without this feature's old decision more keys may be decided than this node has listed.
  if (all.leans || (tau > decided_ && !index_->flat()))
    return {ClassNode(*index_, with).own().held, as_share(tau)};
  return {held(all.decisions[with.size() - 1], tau), as_share(tau)};
}

}  // namespace thetatree
