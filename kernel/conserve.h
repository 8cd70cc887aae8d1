// Estimates of a node and of its parts, made to agree: parts add up to the node, none is negative, and
// each keeps a variance.
#pragma once

#include <algorithm>
#include <vector>

namespace thetatree {

struct Count {
  double n = 0;
  double variance = 0;
};

struct Parts {
  Count left, right;
  bool possible = true;
};

// One class of a node that is parted in two. Where the parts together are less sure than the node, the
// difference to it is shared out by their variances; otherwise the node's count is parted by their ratio.
inline Parts conserve(const Count& node, const Count& left, const Count& right) {
  Parts out;
  const double sum = left.n + right.n;
  if (node.n <= 0) return out;
  if (sum <= 0) {
    out.possible = false;
    return out;
  }
  const double spread = left.variance + right.variance;
  double n, variance;
  if (right.n <= 0) {
    n = node.n;  // nothing is held of the other side, and rounding must not leave dust of a key there
    variance = 0;
  } else if (node.variance < spread) {
    n = std::clamp(left.n + (node.n - sum) * left.variance / spread, 0.0, node.n);
    variance = left.variance * right.variance / spread;
  } else {
    n = std::clamp(node.n * left.n / sum, 0.0, node.n);
    const double share = n / node.n;
    variance = (1 - share) * (1 - share) * left.variance + share * share * right.variance;
  }
  const double share = n / node.n;
  out.left = {n, share * share * node.variance + variance};
  out.right = {node.n - n, (1 - share) * (1 - share) * node.variance + variance};
  return out;
}

}  // namespace thetatree
