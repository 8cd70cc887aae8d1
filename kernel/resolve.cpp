#include "resolve.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace thetatree {
namespace {

constexpr double kThetaScale = 9223372036854775808.0;

double as_share(uint64_t theta) {
  return theta >= kThetaOne ? 1.0 : static_cast<double>(theta) / kThetaScale;
}

struct Held {
  uint64_t hash;
  uint32_t slot;
};

// Least significant digit first. Hashes are spread evenly below the highest θ, so the passes are over the
// digits in use.
void sort_by_hash(std::vector<Held>& items) {
  if (items.size() < 1024) {
    std::stable_sort(items.begin(), items.end(), [](const Held& a, const Held& b) { return a.hash < b.hash; });
    return;
  }
  constexpr int kBits = 11;
  std::vector<Held> swap(items.size());
  std::array<uint32_t, 1 << kBits> count;
  for (int shift = 0; shift < 63; shift += kBits) {
    count.fill(0);
    for (const Held& item : items) ++count[item.hash >> shift & ((1 << kBits) - 1)];
    uint32_t total = 0;
    for (auto& c : count) total += std::exchange(c, total);
    for (const Held& item : items) swap[count[item.hash >> shift & ((1 << kBits) - 1)]++] = item;
    items.swap(swap);
  }
}

uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

const Decision& better(const Decision& a, const Decision& b) {
  return b.theta > a.theta || (b.theta == a.theta && b.base > a.base) ? b : a;
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
  sketch_of[total_slot_] = source.total;

  theta_.assign(sketch_of.size(), 0);
  exists_.assign(sketch_of.size(), 0);
  other_theta_.assign(sketch_of.size(), 0);
  std::vector<Held> held;
  for (size_t slot = 0; slot < sketch_of.size(); ++slot) {
    const int64_t s = sketch_of[slot];
    if (s < 0) continue;
    exists_[slot] = 1;
    theta_[slot] = least(sketches.theta[s], kThetaOne);
    for (int64_t i = sketches.start[s]; i < sketches.start[s + 1]; ++i)
      held.push_back({sketches.hashes[i], static_cast<uint32_t>(slot)});
  }
  const auto holds_hash = [&](int64_t s, uint64_t hash) {
    return std::binary_search(sketches.hashes + sketches.start[s], sketches.hashes + sketches.start[s + 1], hash);
  };
  if (source.only >= 0) {
    class_theta_ = least(sketches.theta[source.only], kThetaOne);
    std::erase_if(held, [&](const Held& item) { return !holds_hash(source.only, item.hash); });
    // A key of the class that no feature sketch and no total holds is the class's all the same.
    const int64_t from = sketches.start[source.only], to = sketches.start[source.only + 1];
    for (int64_t i = from; i < to; ++i)
      if (!holds_hash(source.total, sketches.hashes[i]))
        held.push_back({sketches.hashes[i], static_cast<uint32_t>(total_slot_)});
    theta_[total_slot_] = std::max(theta_[total_slot_], class_theta_);
  }
  if (source.other_total >= 0) {
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
    std::sort(others.begin(), others.end());
    std::erase_if(held, [&](const Held& item) {
      return std::binary_search(others.begin(), others.end(), item.hash);
    });
  }
  sort_by_hash(held);
  slot_start_.push_back(0);
  posting_start_.assign(sketch_of.size() + 1, 0);
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
  for (size_t s = 0; s < sketch_of.size(); ++s) posting_start_[s + 1] += posting_start_[s];
  posting_.resize(held.size());
  std::vector<int64_t> at(posting_start_.begin(), posting_start_.end() - 1);
  for (int64_t key = 0; key < n_keys(); ++key)
    for (int64_t i = slot_start_[key]; i < slot_start_[key + 1]; ++i)
      posting_[at[slot_[i]]++] = static_cast<uint32_t>(key);
  find_empty_cells();
}

// Whether "none of the categories" ever happens: it does not where every known key below all their θ has one.
void ClassIndex::find_empty_cells() {
  none_empty_.assign(features_.size(), 0);
  std::vector<char> has_value(hash_.size());
  for (size_t f = 0; f < features_.size(); ++f) {
    const SketchFeature& feature = features_[f];
    if (feature.kind != CellKind::category) continue;
    const int32_t whole = has_known(static_cast<int32_t>(f)) ? known_slot(static_cast<int32_t>(f)) : total_slot_;
    uint64_t theta = theta_[whole];
    for (int32_t u = 0; u < feature.n_units; ++u) theta = least(theta, theta_[present_slot(feature.first_unit + u)]);
    std::fill(has_value.begin(), has_value.end(), 0);
    for (int32_t u = 0; u < feature.n_units; ++u) {
      const int32_t slot = present_slot(feature.first_unit + u);
      for (const uint32_t* key = keys_begin(slot); key != keys_end(slot); ++key) has_value[*key] = 1;
    }
    none_empty_[f] = std::all_of(keys_begin(whole), keys_end(whole),
                                 [&](uint32_t key) { return hash_[key] >= theta || has_value[key]; });
  }
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
  if (!any || known) return decide_flag(feature, known, known, allowed[f.missing_cell()] != 0);
  if (f.kind == CellKind::flag) return decide_flag(feature, allowed[0], allowed[1], allowed[2] != 0);
  return f.kind == CellKind::threshold ? decide_cuts(feature, allowed) : decide_category(feature, allowed);
}

// Flags, and for every kind the question whether the value is known.
Decision ClassIndex::decide_flag(int32_t feature, bool present, bool absent, bool missing) const {
  const SketchFeature& f = features_[feature];
  const int32_t p = present_slot(f.first_unit), a = absent_slot(f.first_unit), k = known_slot(feature);
  const bool has_known = exists_[k], has_absent = f.kind == CellKind::flag && exists_[a];
  Decision by_present, by_absent;
  if (present == absent) {
    if (present) {
      by_present.needs_in = true;
      by_present.in = {k};
      by_present.base = theta_[k];
    } else {
      by_present.out = {k};
    }
    by_present.theta = theta_[k];
    return by_present;
  }
  by_present.theta = theta_[p];
  if (present) {
    by_present.needs_in = true;
    by_present.in = {p};
    if (missing && has_known) {
      by_present.unless_known = k;
      by_present.theta = least(theta_[p], theta_[k]);
    } else {
      by_present.base = theta_[p];
    }
  } else {
    by_present.out = {p};
    if (!missing && has_known) {
      by_present.needs_in = true;
      by_present.in = {k};
      by_present.theta = least(theta_[p], theta_[k]);
      by_present.base = theta_[k];
    }
  }
  if (!has_absent) return by_present;
  by_absent.theta = theta_[a];
  if (present) {
    by_absent.out = {a};
    if (!missing && has_known) {
      by_absent.needs_in = true;
      by_absent.in = {k};
      by_absent.theta = least(theta_[a], theta_[k]);
      by_absent.base = theta_[k];
    }
  } else {
    by_absent.needs_in = true;
    by_absent.in = {a};
    if (missing && has_known) {
      by_absent.unless_known = k;
      by_absent.theta = least(theta_[a], theta_[k]);
    } else {
      by_absent.base = theta_[a];
    }
  }
  return better(by_present, by_absent);
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

// Once a key is known to have a value, that value's sketch of the other class tells the class as well.
uint64_t ClassIndex::class_theta(const std::vector<Decision>& decisions) const {
  uint64_t best = class_theta_;
  for (const Decision& decision : decisions) {
    if (!decision.needs_in || decision.unless_known >= 0) continue;
    uint64_t theta = kThetaOne;
    for (const int32_t slot : decision.in) theta = least(theta, other_theta_[slot]);
    best = std::max(best, theta);
  }
  return best;
}

ClassNode::ClassNode(const ClassIndex& index, const Constraints& constraints) : index_(&index) {
  resolve(constraints);
  std::vector<uint32_t> all(index.keys_below(decided_));
  std::iota(all.begin(), all.end(), 0u);
  list_from(all.data(), all.data() + all.size());
}

ClassNode::ClassNode(const ClassNode& above, const Constraints& constraints) : index_(above.index_) {
  resolve(constraints);
  if (decided_ > above.decided_) {  // a coarse decision is no longer needed: start afresh
    std::vector<uint32_t> all(index_->keys_below(decided_));
    std::iota(all.begin(), all.end(), 0u);
    list_from(all.data(), all.data() + all.size());
  } else {
    list_from(above.keys_.data(), above.keys_.data() + above.keys_.size());
  }
}

void ClassNode::resolve(const Constraints& constraints) {
  constraints_ = constraints;
  base_ = index_->total_theta();
  for (const Constraint& constraint : constraints) {
    decisions_.push_back(index_->decide(constraint.feature, constraint.allowed));
    decided_ = least(decided_, decisions_.back().theta);
    base_ = std::max(base_, decisions_.back().base);
  }
  tau_ = least(least(base_, decided_), index_->class_theta(decisions_));
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
  Constraints rest;
  std::vector<Decision> decisions;
  uint64_t decided = kThetaOne, base = index_->total_theta();
  bool constrained = false;
  for (size_t i = 0; i < constraints_.size(); ++i) {
    if (constraints_[i].feature == feature) {
      constrained = true;
      continue;
    }
    rest.push_back(constraints_[i]);
    decisions.push_back(decisions_[i]);
    decided = least(decided, decisions_[i].theta);
    base = std::max(base, decisions_[i].base);
  }
  const Decision decision = index_->decide(feature, allowed);
  decisions.push_back(decision);
  const uint64_t tau =
      least(least(std::max(base, decision.base), least(decided, decision.theta)), index_->class_theta(decisions));
  // Without this feature's old constraint more keys may be decided than this node has listed.
  if (constrained && tau > decided_) return {ClassNode(*index_, rest).held(decision, tau), as_share(tau)};
  return {held(decision, tau), as_share(tau)};
}

}  // namespace thetatree
