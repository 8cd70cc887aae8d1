#include "sketch_sums.h"

#include <algorithm>
#include <utility>

#include "parallel.h"

namespace thetatree {

SumIndex::SumIndex(const SketchBuffer& sketches, const ClassSource& source, std::vector<SketchFeature> features,
                   const uint64_t* hashes, const double* y, int64_t n)
    : features_(std::move(features)), index_(sketches, source, features_) {
  if (index_.flat()) index_.list(kThetaOne);
  y_.resize(index_.n_keys());
  int64_t at = 0;
  for (int64_t key = 0; key < index_.n_keys(); ++key) {
    while (at < n && hashes[at] < index_.hash(key)) ++at;
    y_[key] = at < n ? y[at] : 0.0;
  }
}

Sums SumIndex::sums(const ClassNode& node) const {
  Sums out;
  const int64_t last = index_.keys_below(node.tau());
  for (const uint32_t key : node.keys()) {
    if (key >= last) break;
    const double y = y_[key];
    out.held += 1;
    out.sum += y;
    out.square += y * y;
  }
  out.tau = node.own().tau;
  return out;
}

std::vector<Sums> SumIndex::among(const Constraints& node, const Constraints& tests, int n_threads) const {
  const ClassNode own(index_, node);
  std::vector<Sums> out(tests.size() + 1);
  out[0] = sums(own);
  parallel_for(n_threads, static_cast<int64_t>(tests.size()), [&](int64_t i, int) {
    Constraints with;
    for (const Constraint& constraint : node)
      if (constraint.feature != tests[i].feature) with.push_back(constraint);
    with.push_back(tests[i]);
    out[i + 1] = sums(ClassNode(own, with));
  });
  return out;
}

}  // namespace thetatree
