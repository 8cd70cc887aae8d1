#include "groups_c45.h"

#include <algorithm>
#include <numeric>

#include "interrupt.h"
#include "search_c45.h"

namespace thetatree {

ValueGroups::ValueGroups(const Entropies& f, const double* tally, int64_t n, int width, double least)
    : f_(f), n_(n), width_(width), least_(least), tally_(tally, tally + n * width), weight_(n), entropy_(n),
      joint_(n * n), alive_(n), group_(n) {
  std::iota(alive_.begin(), alive_.end(), 0);
  group_ = alive_;
  for (int64_t g = 0; g < n; ++g) {
    double inside = 0;
    for (int k = 0; k < width; ++k) {
      weight_[g] += tally[g * width + k];
      inside += f(tally[g * width + k]);
    }
    entropy_[g] = f(weight_[g]) - inside;
    after_ += entropy_[g];
    sizes_ += f(weight_[g]);
    enough_ += weight_[g] >= least;
  }
  for (int64_t a = 0; a < n; ++a) {
    poll();
    for (int64_t b = a + 1; b < n; ++b) joint_[a * n + b] = joint(a, b);
  }
}

double ValueGroups::joint(int64_t a, int64_t b) const {
  double inside = 0;
  for (int k = 0; k < width_; ++k) inside += f_(tally_[a * width_ + k] + tally_[b * width_ + k]);
  return f_(weight_[a] + weight_[b]) - inside;
}

bool ValueGroups::better(double a, double b) { return compare_scores(a, b, 1) > 0; }

int64_t ValueGroups::enough_with(size_t i, size_t j) const {
  return enough_ - (weight(i) >= least_) - (weight(j) >= least_) + (weight(i) + weight(j) >= least_);
}

double ValueGroups::after_with(size_t i, size_t j) const {
  const int64_t a = alive_[i], b = alive_[j];
  return after_ - entropy_[a] - entropy_[b] + joint_[a * n_ + b];
}

double ValueGroups::sizes_with(size_t i, size_t j) const {
  return sizes_ - f_(weight(i)) - f_(weight(j)) + f_(weight(i) + weight(j));
}

void ValueGroups::lightest(size_t& i, size_t& j) const {
  std::vector<size_t> order(alive_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return weight(a) < weight(b); });
  i = std::min(order[0], order[1]);
  j = std::max(order[0], order[1]);
}

void ValueGroups::join(size_t i, size_t j) {
  const int64_t a = alive_[i], b = alive_[j];
  enough_ = enough_with(i, j);
  after_ = after_with(i, j);
  sizes_ = sizes_with(i, j);
  entropy_[a] = joint_[a * n_ + b];
  weight_[a] += weight_[b];
  for (int k = 0; k < width_; ++k) tally_[a * width_ + k] += tally_[b * width_ + k];
  std::replace(group_.begin(), group_.end(), b, a);
  alive_.erase(alive_.begin() + static_cast<std::ptrdiff_t>(j));
  for (const int64_t other : alive_)
    if (other != a) joint_[std::min(a, other) * n_ + std::max(a, other)] = joint(a, other);
}

int32_t ValueGroups::group_of(int64_t value) const {
  return static_cast<int32_t>(std::lower_bound(alive_.begin(), alive_.end(), group_[value]) - alive_.begin());
}

}  // namespace thetatree
