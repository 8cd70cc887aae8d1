#include "special.h"

#include <cmath>
#include <limits>

namespace thetatree {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double log_gamma(double x) {
#if defined(__GLIBC__)
  int sign;
  return lgamma_r(x, &sign);  // lgamma writes a global, which threads must not
#else
  return std::lgamma(x);
#endif
}

// Lentz's continued fraction of the incomplete beta function; converges quickly for
// x < (a + 1) / (a + b + 2), in about sqrt(max(a, b)) steps.
double continued_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300;
  const int most = 200 + static_cast<int>(20 * std::sqrt(std::fmax(a, b)));
  auto away_from_zero = [](double v) { return std::fabs(v) < kTiny ? kTiny : v; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double h = d;
  for (int m = 1; m <= most; ++m) {
    const double m2 = 2.0 * m;
    const double even = m * (b - m) * x / ((a + m2 - 1) * (a + m2));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    h *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + m2) * (a + m2 + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    const double step = d * c;
    h *= step;
    if (std::fabs(step - 1) < 1e-16) break;
  }
  return h;
}

// ln of x^a (1-x)^b / (a B(a, b)) times the fraction: the tail on the side of the smaller x.
double log_tail(double x, double a, double b) {
  const double log_beta = log_gamma(a) + log_gamma(b) - log_gamma(a + b);
  return a * std::log(x) + b * std::log1p(-x) - std::log(a) - log_beta +
         std::log(continued_fraction(x, a, b));
}

// ln(1 - e^v) for v <= 0.
double log_complement(double v) {
  if (v >= 0) return -kInfinity;
  return v > -0.6931471805599453 ? std::log(-std::expm1(v)) : std::log1p(-std::exp(v));
}

}  // namespace

double log_incomplete_beta(double x, double a, double b) {
  if (a <= 0) return 0;  // all mass at zero
  if (b <= 0) return x >= 1 ? 0 : -kInfinity;
  if (x <= 0) return -kInfinity;
  if (x >= 1) return 0;
  if (x < (a + 1) / (a + b + 2)) return std::fmin(0.0, log_tail(x, a, b));
  return log_complement(std::fmin(0.0, log_tail(1 - x, b, a)));
}

double log_binomial_at_most(double k, double n, double p) {
  return k >= n ? 0 : log_incomplete_beta(1 - p, n - k, k + 1);
}

double log_binomial_at_least(double k, double n, double p) {
  return k <= 0 ? 0 : log_incomplete_beta(p, k, n - k + 1);
}

double log_two_sided(double k, double n, double p) {
  const double tail = std::fmin(log_binomial_at_most(k, n, p), log_binomial_at_least(k, n, p));
  return std::fmin(0.0, tail + 0.6931471805599453);
}

// The upper incomplete gamma function: by its series below the mean, by its continued fraction above.
double chi_square_tail(double x, double degrees) {
  if (x <= 0) return 1;
  const double a = degrees / 2, z = x / 2;
  const double front = std::exp(-z + a * std::log(z) - log_gamma(a));
  if (z < a + 1) {
    double term = 1 / a, sum = term;
    for (double n = a + 1; term > sum * 1e-16; ++n) sum += term *= z / n;
    return std::fmax(0.0, 1 - front * sum);
  }
  double b = z + 1 - a, c = 1e300, d = 1 / b, h = d;
  for (int i = 1; i < 10000; ++i) {
    const double an = -i * (i - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    h *= d * c;
    if (std::fabs(d * c - 1) < 1e-16) break;
  }
  return front * h;
}

}  // namespace thetatree
