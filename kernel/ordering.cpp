#include "ordering.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace thetatree {
namespace {

std::vector<int32_t> order_by(const std::vector<double>& key) {
  std::vector<int32_t> order(key.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return key[a] < key[b]; });
  return order;
}

double class_weight(const double* tally, int n_classes) {
  double sum = 0;
  for (int k = 0; k < n_classes; ++k) sum += tally[1 + k];
  return sum;
}

}  // namespace

std::vector<int32_t> order_by_mean(const Levels& levels) {
  std::vector<double> key(levels.size());
  for (int64_t i = 0; i < levels.size(); ++i) key[i] = levels.at(i)[2] / levels.at(i)[1];
  return order_by(key);
}

std::vector<int32_t> order_by_share(const Levels& levels, int class_index) {
  std::vector<double> key(levels.size());
  for (int64_t i = 0; i < levels.size(); ++i)
    key[i] = levels.at(i)[1 + class_index] / class_weight(levels.at(i), levels.stride - 1);
  return order_by(key);
}

std::vector<int32_t> order_by_component(const Levels& levels, const NodeTotals& node) {
  const int n_classes = node.width;
  const int64_t n = levels.size();
  std::vector<double> deviation(n * n_classes), weight(n);
  std::vector<double> variance(n_classes);
  for (int64_t i = 0; i < n; ++i) {
    weight[i] = class_weight(levels.at(i), n_classes);
    for (int k = 0; k < n_classes; ++k) {
      const double d = levels.at(i)[1 + k] / weight[i] - node.total[k] / node.weight;
      deviation[i * n_classes + k] = d;
      variance[k] += weight[i] * d * d;
    }
  }
  // Power iteration without the covariance matrix, from the class that varies most.
  std::vector<double> direction(n_classes), next(n_classes);
  direction[std::max_element(variance.begin(), variance.end()) - variance.begin()] = 1;
  std::vector<double> projection(n);
  for (int step = 0; step < 200; ++step) {
    std::fill(next.begin(), next.end(), 0.0);
    for (int64_t i = 0; i < n; ++i) {
      const double* d = deviation.data() + i * n_classes;
      const double along = std::inner_product(d, d + n_classes, direction.begin(), 0.0);
      projection[i] = along;
      for (int k = 0; k < n_classes; ++k) next[k] += weight[i] * along * d[k];
    }
    double norm = 0, change = 0;
    for (const double v : next) norm += v * v;
    norm = std::sqrt(norm);
    if (norm == 0) break;
    for (int k = 0; k < n_classes; ++k) {
      change = std::fmax(change, std::fabs(next[k] / norm - direction[k]));
      direction[k] = next[k] / norm;
    }
    if (change < 1e-15) break;
  }
  return order_by(projection);
}

}  // namespace thetatree
