// How sketches decide whether a key is in the allowed cells of a feature, and up to which θ.
#include <algorithm>

#include "sketch_index.h"

namespace thetatree {
namespace {

uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

}  // namespace

// The one that decides further; whatever holds the node is a base for either.
Decision better(Decision a, Decision b) {
  a.base = b.base = std::max(a.base, b.base);
  return b.theta > a.theta ? b : a;
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
  const auto by = [&](const Slots& slots) {
    Decision decision;
    decision.needs_in = known;
    (known ? decision.in : decision.out) = slots;
    for (const int32_t slot : slots) decision.theta = least(decision.theta, theta_[slot]);
    if (known) decision.base = decision.theta;
    return decision;
  };
  const Decision plain = by({known_slot(feature)});
  Slots parts;
  if (f.kind == CellKind::flag && exists_[absent_slot(f.first_unit)])
    parts = {present_slot(f.first_unit), absent_slot(f.first_unit)};
  if (f.kind == CellKind::category && none_empty_[feature])
    for (int32_t u = 0; u < f.n_units; ++u) parts.push_back(present_slot(f.first_unit + u));
  return parts.begin() == parts.end() ? plain : better(plain, by(parts));
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

void ClassIndex::find_cut_sides() {
  cut_sides_.resize(4 * static_cast<size_t>(n_units_));
  std::vector<char> cells;
  for (int32_t f = 0; f < static_cast<int32_t>(features_.size()); ++f) {
    const SketchFeature& feature = features_[f];
    if (feature.kind == CellKind::category) continue;
    for (int32_t cut = 0; cut < feature.n_units; ++cut)
      for (const int which : {0, 1, 2, 3}) {
        const bool right = which >= 2;
        cells.assign(feature.n_cells(), right);
        std::fill(cells.begin(), cells.begin() + cut + 1, !right);
        cells.back() = which % 2 == 1;
        const Decision decision = decide(f, cells);
        cut_sides_[4 * static_cast<size_t>(feature.first_unit + cut) + which] = {
            decision.theta, decision.base, class_theta(f, cells), decision.in.only(), decision.out.only(),
            decision.unless_known};
      }
  }
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

}  // namespace thetatree
