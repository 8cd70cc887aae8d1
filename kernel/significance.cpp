#include "significance.h"

#include <algorithm>
#include <cmath>

#include "special.h"

namespace thetatree {
namespace {

double chance_of_classes(bool by_likelihood, const std::vector<Sample>& branches) {
  const size_t n_classes = branches[0].classes.size();
  std::vector<double> total(n_classes);
  double n = 0, weight = 0;
  for (const Sample& branch : branches) {
    n += branch.n;
    weight += branch.weight;
    for (size_t k = 0; k < n_classes; ++k) total[k] += branch.classes[k];
  }
  const double scale = n / weight;
  const auto present = std::count_if(total.begin(), total.end(), [](double t) { return t > 0; });
  double statistic = 0;
  for (const Sample& branch : branches)
    for (size_t k = 0; k < n_classes; ++k) {
      const double expected = scale * branch.weight * total[k] / weight, observed = scale * branch.classes[k];
      if (expected <= 0) continue;
      if (!by_likelihood) statistic += (observed - expected) * (observed - expected) / expected;
      else if (observed > 0) statistic += 2 * observed * std::log(observed / expected);
    }
  const double degrees = static_cast<double>((branches.size() - 1) * (present - 1));
  return degrees > 0 ? chi_square_tail(statistic, degrees) : 1.0;
}

double chance_of_numbers(const std::vector<Sample>& branches) {
  double n = 0, weight = 0, mean = 0, within = 0, between = 0;
  for (const Sample& branch : branches) {
    n += branch.n;
    weight += branch.weight;
    mean += branch.weight * branch.mean;
    within += branch.squares;
  }
  mean /= weight;
  for (const Sample& branch : branches) between += branch.weight * (branch.mean - mean) * (branch.mean - mean);
  const double above = static_cast<double>(branches.size()) - 1, below = n - static_cast<double>(branches.size());
  if (between <= 0) return 1.0;
  if (below <= 0) return 1.0;  // as many branches as rows: nothing is left to judge by
  if (within <= 0) return 0.0;
  const double f = (between / above) / (within / below);
  return std::exp(log_incomplete_beta(below / (below + above * f), below / 2, above / 2));
}

}  // namespace

double partitions_of(int64_t n) {
  constexpr double kMostBits = 1000;  // what doubles can tell from infinity
  return n < 2 ? 0 : std::exp2(std::min(kMostBits, static_cast<double>(n - 1))) - 1;
}

double split_chance(Criterion criterion, const std::vector<Sample>& branches) {
  if (branches[0].classes.empty()) return chance_of_numbers(branches);
  return chance_of_classes(criterion == Criterion::entropy || criterion == Criterion::gain_ratio, branches);
}

}  // namespace thetatree
