#include "sketch_node.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "bit_columns.h"

namespace thetatree {
namespace {

std::vector<uint32_t> all_keys(const ClassIndex& index, uint64_t theta) {
  std::vector<uint32_t> keys(index.keys_below(theta));
  std::iota(keys.begin(), keys.end(), 0u);
  return keys;
}

// Bits of a row, word by word.
struct Bits {
  int64_t word;
  uint64_t bits;
};

std::vector<Bits> bits_of(const ClassIndex& index, const Slots& slots) {
  std::vector<Bits> out;
  for (const int32_t slot : slots) {
    const int32_t column = slot < 0 ? -1 : index.column(slot);
    if (column < 0) continue;  // a sketch that is not there holds nothing
    const auto found = std::find_if(out.begin(), out.end(), [&](const Bits& some) { return some.word == column / 64; });
    if (found != out.end()) found->bits |= 1ULL << (column % 64);
    else out.push_back({column / 64, 1ULL << (column % 64)});
  }
  return out;
}

bool any_of(const uint64_t* row, const std::vector<Bits>& some) {
  uint64_t found = 0;
  for (const Bits& bits : some) found |= row[bits.word] & bits.bits;
  return found != 0;
}

}  // namespace

ClassNode::ClassNode(const ClassIndex& index, const Constraints& constraints) : index_(&index) {
  take(constraints);
  if (!index.flat()) list_from(all_keys(index, decided_), 0);
}

ClassNode::ClassNode(const ClassNode& above, const Constraints& constraints) : index_(above.index_) {
  take(constraints);
  if (decided_ > above.decided_) {  // a coarse decision is no longer needed: start afresh
    list_from(all_keys(*index_, decided_), 0);
    return;
  }
  // What was decided above still is, unless the new constraint is tied up with it.
  const size_t n = constraints.size();
  const bool adds = n == above.constraints_.size() + 1 && above.stands_alone(constraints.back().feature);
  list_from(above.keys_, adds ? n - 1 : 0);
}

void ClassNode::take(const Constraints& constraints) {
  constraints_ = constraints;
  Resolved all = resolved(constraints);
  decisions_ = std::move(all.decisions);
  decided_ = all.decided;
  base_ = all.base;
  told_ = all.told;
  tau_ = all.tau();
  bound_.assign(index_->n_features(), 0);
  for (const Constraint& constraint : constraints) {
    bound_[constraint.feature] = 1;
    for (const int32_t f : index_->missing_with(constraint.feature)) bound_[f] = 1;
  }
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
    out.decided = std::min(out.decided, decision.theta);
    out.base = std::max(out.base, decision.base);
  }
  if (index_->told_by_own()) out.base = std::max(out.base, out.told);
  return out;
}

void ClassNode::list_from(const std::vector<uint32_t>& keys, size_t first_decision) {
  const auto last = std::lower_bound(keys.begin(), keys.end(), index_->keys_below(decided_));
  keys_.assign(keys.begin(), last);
  for (size_t i = first_decision; i < decisions_.size(); ++i) keep(decisions_[i]);
}

void ClassNode::keep(const Decision& decision) {
  if (decision.everything) return;
  const int64_t n = first_listed();
  const int64_t kept = keep_rows(decision, n);
  keys_.resize(keep_lists(decision, n, kept));
}

// Keeps those of the first n keys, which have rows; returns how many.
int64_t ClassNode::keep_rows(const Decision& decision, int64_t n) {
  const auto in = bits_of(*index_, decision.in), out = bits_of(*index_, decision.out);
  const auto known = bits_of(*index_, {decision.unless_known});
  const bool anyone = !decision.needs_in, unknown = decision.unless_known >= 0;
  int64_t kept = 0;
  if (!unknown && in.size() + out.size() == 1 && anyone == in.empty()) {  // one word tells, as for most splits
    const Bits& one = anyone ? out[0] : in[0];
    for (int64_t i = 0; i < n; ++i) {
      const uint32_t key = keys_[i];
      keys_[kept] = key;
      kept += ((index_->rows()[key * index_->n_words() + one.word] & one.bits) == 0) == anyone;
    }
    return kept;
  }
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t* row = index_->rows() + keys_[i] * index_->n_words();
    const bool passes = (anyone || any_of(row, in) || (unknown && !any_of(row, known))) && !any_of(row, out);
    keys_[kept] = keys_[i];
    kept += passes;
  }
  return kept;
}

// The same for the others; `kept` are kept already.
int64_t ClassNode::keep_lists(const Decision& decision, int64_t from, int64_t kept) {
  constexpr uint8_t kIn = 1, kOut = 2, kKnown = 4;
  const int64_t n = static_cast<int64_t>(keys_.size()) - from;
  std::vector<uint8_t> marks(n, 0);
  const auto mark = [&](int32_t slot, uint8_t bit) { index_->mark(slot, keys_.data() + from, n, bit, marks.data()); };
  for (const int32_t slot : decision.in) mark(slot, kIn);
  for (const int32_t slot : decision.out) mark(slot, kOut);
  if (decision.unless_known >= 0) mark(decision.unless_known, kKnown);
  for (int64_t i = 0; i < n; ++i) {
    const bool in = !decision.needs_in || (marks[i] & kIn) || (decision.unless_known >= 0 && !(marks[i] & kKnown));
    keys_[kept] = keys_[from + i];
    kept += in && !(marks[i] & kOut);
  }
  return kept;
}

// Where in the list the keys with lists begin.
int64_t ClassNode::first_listed() const {
  return std::lower_bound(keys_.begin(), keys_.end(), static_cast<uint32_t>(index_->n_rows())) - keys_.begin();
}

int64_t ClassNode::size_below(uint64_t tau) const {
  if (index_->flat()) return index_->covered_below(tau);
  if (tau >= kThetaOne) return static_cast<int64_t>(keys_.size());
  return std::partition_point(keys_.begin(), keys_.end(), [&](uint32_t key) { return index_->hash(key) < tau; }) -
         keys_.begin();
}

void ClassNode::count() const {
  all_.assign(index_->n_columns(), 0);
  const int64_t n_low = size_below(tau_);
  add_slots(0, n_low);
  low_ = all_;
  add_slots(n_low, static_cast<int64_t>(keys_.size()));
  counted_ = true;
}

// Counts the slots of some of the list's keys.
void ClassNode::add_slots(int64_t from, int64_t to) const {
  const int64_t with_rows = std::clamp(first_listed(), from, to);
  add_bits(index_->rows(), index_->n_words(), keys_.data() + from, with_rows - from, all_.data());
  for (int64_t i = with_rows; i < to; ++i)
    for (const uint32_t* column = index_->columns_begin(keys_[i]); column != index_->columns_end(keys_[i]); ++column)
      ++all_[*column];
}

int64_t ClassNode::bits_below(int32_t slot, uint64_t tau) const {
  if (index_->flat()) return index_->held_below(slot, tau);
  if (!counted_) count();
  const int32_t column = index_->column(slot);
  if (tau >= std::min(index_->theta(slot), decided_)) return all_[column];
  if (tau == tau_) return low_[column];
  const int64_t last = index_->keys_below(tau), with_rows = first_listed();
  const auto own = bits_of(*index_, {slot});
  int64_t n = 0;
  for (int64_t i = 0; i < with_rows && keys_[i] < last; ++i)
    n += any_of(index_->rows() + keys_[i] * index_->n_words(), own);
  auto key = keys_.begin() + with_rows;
  for (const uint32_t* held = index_->listed_begin(slot); held != index_->listed_end(slot) && *held < last; ++held) {
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
  if (stands_alone(feature)) {  // then the node stays decided as it is
    const Decision decision = index_->decide(feature, allowed);
    const uint64_t tau = tau_with(decision.theta, decision.base, index_->class_theta(feature, allowed));
    return {held(decision, tau), as_share(tau)};
  }
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
