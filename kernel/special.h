// Distributions: the binomial in log space, for counts that need not be whole, and chi-square.
#pragma once

namespace thetatree {

// ln I_x(a, b), the regularised incomplete beta function; a, b >= 0, 0 <= x <= 1.
double log_incomplete_beta(double x, double a, double b);

// ln P(X <= k) and ln P(X >= k) for X ~ Binomial(n, p).
double log_binomial_at_most(double k, double n, double p);
double log_binomial_at_least(double k, double n, double p);

// ln of min(1, 2 min(P(X <= k), P(X >= k))).
double log_two_sided(double k, double n, double p);

// P(X > x) for X ~ chi-square with so many degrees of freedom.
double chi_square_tail(double x, double degrees);

}  // namespace thetatree
