#include "error_limits.h"

#include <algorithm>
#include <cmath>

#include "special.h"

namespace thetatree {
namespace {

// Upper tail probabilities and deviates, between which release 8 goes in straight lines.
constexpr double kTail[] = {0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00};
constexpr double kDeviate[] = {4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00};

double tabled_deviate(double tail) {
  int i = 1;
  while (tail > kTail[i]) ++i;
  const double share = (tail - kTail[i - 1]) / (kTail[i] - kTail[i - 1]);
  return kDeviate[i - 1] + share * (kDeviate[i] - kDeviate[i - 1]);
}

// The root of a falling function between two points of unlike sign: regula falsi, Illinois's way.
template <class Function>
double falling_root(double low, double high, Function&& f) {
  double at_low = f(low), at_high = f(high);
  for (int step = 0, kept = 0; step < 200 && high - low > 1e-15 * high; ++step) {
    double middle = (low * at_high - high * at_low) / (at_high - at_low);
    if (!(middle > low && middle < high)) middle = low / 2 + high / 2;
    if (!(middle > low && middle < high)) break;
    const double value = f(middle);
    if (value == 0) return middle;
    if (value > 0) {
      low = middle;
      at_low = value;
      if (kept == 1) at_high /= 2;
      kept = 1;
    } else {
      high = middle;
      at_high = value;
      if (kept == -1) at_low /= 2;
      kept = -1;
    }
  }
  return low / 2 + high / 2;
}

double normal_deviate(double tail) {
  return falling_root(-40, 40, [&](double z) { return std::erfc(z / std::sqrt(2.0)) / 2 - tail; });
}

}  // namespace

ErrorLimit::ErrorLimit(LimitRule rule, double confidence) : rule_(rule), confidence_(confidence) {
  if (rule == LimitRule::release8) z_ = tabled_deviate(confidence);
  if (rule == LimitRule::normal) z_ = normal_deviate(confidence);
}

double ErrorLimit::errors(double e, double n) const {
  if (n <= 0) return 0;
  if (rule_ == LimitRule::exact) return n * exact_rate(e, n);
  if (e >= 1) return e + added(e, n);
  const double none = n * -std::expm1(std::log(confidence_) / n);
  return e <= 0 ? none : e + none + e * (added(1, n) - none);
}

// What is added to one error or more.
double ErrorLimit::added(double e, double n) const {
  const double half_more = e + 0.5;
  if (half_more >= n) return rule_ == LimitRule::release8 ? 0.67 * (n - e) : std::fmax(n - e, 0);
  const double inside = std::fmax(half_more * (1 - half_more / n) + z_ * z_ / 4, 0);
  return n * (half_more + z_ * z_ / 2 + z_ * std::sqrt(inside)) / (n + z_ * z_) - e;
}

// P(X <= e) falls from 1 to 0 as the rate rises.
double ErrorLimit::exact_rate(double e, double n) const {
  if (e >= n) return 1;
  if (e <= 0) return -std::expm1(std::log(confidence_) / n);
  const double wanted = std::log(confidence_);
  return falling_root(0.0, 1.0, [&](double rate) {
    return std::fmax(log_binomial_at_most(e, n, rate), -1e6) - wanted;
  });
}

}  // namespace thetatree
