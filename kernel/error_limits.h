// What errors to reckon with at a leaf: cases times the upper confidence limit of its error rate (Quinlan
// 1993, chapter 4). thetatree.tree.error_limits says what the three rules are.
#pragma once

#include <cstdint>

namespace thetatree {

enum class LimitRule : uint8_t { release8 = 0, exact = 1, normal = 2 };

class ErrorLimit {
 public:
  ErrorLimit(LimitRule rule, double confidence);

  // For e errors in n cases, none of which need be whole.
  double errors(double e, double n) const;

 private:
  double added(double e, double n) const;
  double exact_rate(double e, double n) const;

  LimitRule rule_;
  double confidence_;
  double z_ = 0;
};

}  // namespace thetatree
