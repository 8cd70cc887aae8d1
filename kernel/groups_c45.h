// Grouping the values of a category for one split, two groups at a time (Quinlan 1993, chapter 7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "interrupt.h"

namespace thetatree {

class Entropies;

class ValueGroups {
 public:
  // Each value begins as a group of its own; `least` is what at least two groups have to weigh.
  ValueGroups(const Entropies& f, const double* tally, int64_t n, int width, double least);

  // Merges the best pair while that does not lower the worth, down to two groups. Until two groups weigh enough
  // nothing has any worth, and if no merger changes that the two lightest are merged.
  template <class Worth>
  void merge(Worth&& worth) {
    double now = enough_ >= 2 ? worth(after_, sizes_) : -1;
    while (alive_.size() > 2) {
      poll();
      size_t best_i = 0, best_j = 0;
      double best = -1;
      for (size_t i = 0; i < alive_.size(); ++i)
        for (size_t j = i + 1; j < alive_.size(); ++j) {
          if (enough_with(i, j) < 2) continue;
          const double value = worth(after_with(i, j), sizes_with(i, j));
          if (!better(value, best)) continue;
          best = value;
          best_i = i;
          best_j = j;
        }
      if (now >= 0 && better(now, best)) return;
      if (best_j == 0) lightest(best_i, best_j);
      join(best_i, best_j);
      now = best;
    }
  }

  int64_t enough() const { return enough_; }
  int64_t size() const { return static_cast<int64_t>(alive_.size()); }
  double after() const { return after_; }
  double sizes() const { return sizes_; }
  int32_t group_of(int64_t value) const;  // numbered by their lowest values

 private:
  static bool better(double a, double b);
  double weight(size_t i) const { return weight_[alive_[i]]; }
  int64_t enough_with(size_t i, size_t j) const;
  double after_with(size_t i, size_t j) const;
  double sizes_with(size_t i, size_t j) const;
  double joint(int64_t a, int64_t b) const;
  void lightest(size_t& i, size_t& j) const;
  void join(size_t i, size_t j);

  const Entropies& f_;
  int64_t n_;
  int width_;
  double least_;
  int64_t enough_ = 0;            // groups that weigh enough
  std::vector<double> tally_;     // by group: weight by class
  std::vector<double> weight_, entropy_;
  std::vector<double> joint_;     // entropy sum of each pair together
  std::vector<int64_t> alive_;    // groups that are left, ascending; each is named after its lowest value
  std::vector<int64_t> group_;    // by value
  double after_ = 0, sizes_ = 0;  // sums over the groups: of entropy sums, and of n log n
};

}  // namespace thetatree
