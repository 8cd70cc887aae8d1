// A node as one class's sketches see it: constraints resolved together, keys listed, slots counted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sketch_index.h"

namespace thetatree {

inline double as_share(uint64_t theta) {
  constexpr double kThetaScale = 9223372036854775808.0;
  return theta >= kThetaOne ? 1.0 : static_cast<double>(theta) / kThetaScale;
}

// A node of one class: its constraints resolved, its keys listed, its slots counted.
class ClassNode {
 public:
  ClassNode(const ClassIndex& index, const Constraints& constraints);
  // The same for a node below `above`, whose keys are narrowed down where that loses none.
  ClassNode(const ClassNode& above, const Constraints& constraints);

  Estimate own() const;
  // The keys that are also in these cells of a feature. `constraints` are the node's.
  Estimate among(int32_t feature, const std::vector<char>& allowed) const;
  // The same for a side of a cut, of a feature that `stands_alone`.
  Estimate among(const CutSide& side) const;
  // Whether nothing that the node asks has to do with the feature.
  bool stands_alone(int32_t feature) const { return !bound_[feature]; }
  // Counts the slots now; otherwise the first question does.
  void count() const;
  uint64_t tau() const { return tau_; }
  const std::vector<uint32_t>& keys() const { return keys_; }

 private:
  void take(const Constraints& constraints);
  void list_from(const std::vector<uint32_t>& keys, size_t first_decision);
  void keep(const Decision& decision);
  int64_t keep_rows(const Decision& decision, int64_t n);
  int64_t keep_lists(const Decision& decision, int64_t from, int64_t kept);
  void add_slots(int64_t from, int64_t to) const;
  int64_t first_listed() const;
  // Keys of the list below tau that a slot holds.
  int64_t bits(int32_t slot, uint64_t tau) const {
    if (counted_ && !index_->flat() && tau >= std::min(index_->theta(slot), decided_)) return all_[index_->column(slot)];
    return bits_below(slot, tau);
  }
  int64_t bits_below(int32_t slot, uint64_t tau) const;
  int64_t size_below(uint64_t tau) const;
  double held(const Decision& decision, uint64_t tau) const;
  uint64_t tau_with(uint64_t theta, uint64_t base, uint64_t told) const;

  // What decides some constraints together: θ of decisions, base and class.
  struct Resolved {
    std::vector<Decision> decisions;
    uint64_t decided = kThetaOne;  // least decision
    uint64_t base = 0;             // best base
    uint64_t told = 0;             // best decision of the class
    bool leans = false;            // the last decision is right only beside the others as decided here
    uint64_t tau() const { return std::min({base, decided, told}); }
  };
  Resolved resolved(const Constraints& constraints) const;
  void decide_together(const Constraints& constraints, Resolved& out) const;
  void decide_known_together(const Constraints& constraints, const std::vector<size_t>& group, Resolved& out) const;
  void decide_missing_together(const Constraints& constraints, const std::vector<size_t>& group, bool possible,
                               Resolved& out) const;

  const ClassIndex* index_;
  Constraints constraints_;
  std::vector<Decision> decisions_;
  std::vector<char> bound_;  // by feature: constrained, or missing together with one that is
  uint64_t decided_ = kThetaOne, base_ = 0, told_ = 0;
  uint64_t tau_ = kThetaOne;
  std::vector<uint32_t> keys_;
  mutable bool counted_ = false;
  mutable std::vector<int32_t> all_, low_;  // by column: keys in the list; those below tau()
};

// What τ becomes with one decision more.
inline uint64_t ClassNode::tau_with(uint64_t theta, uint64_t base, uint64_t told) const {
  told = std::max(told_, told);
  base = std::max(base_, base);
  if (index_->told_by_own()) base = std::max(base, told);
  return std::min({base, told, decided_, theta});
}

inline Estimate ClassNode::among(const CutSide& side) const {
  const uint64_t tau = tau_with(side.theta, side.base, side.told);
  const int64_t all = side.in < 0 || side.unless_known >= 0 ? size_below(tau) : 0;
  int64_t n = side.in < 0 ? all : bits(side.in, tau);
  if (side.unless_known >= 0) n += all - bits(side.unless_known, tau);
  if (side.out >= 0) n -= bits(side.out, tau);
  return {static_cast<double>(n), as_share(tau)};
}

}  // namespace thetatree
