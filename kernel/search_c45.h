// C4.5's search: what one feature's test of a node's cases would gain, and which feature to take (Quinlan 1993,
// 1996).
//
//   known    cases whose value of the feature is not missing, and their weight
//   gain     the known cases' information gain, times their share; of a number less the price of having been
//            able to choose among its cuts
//   info     the split information: the entropy of the branches' weights, missing being one more branch
#pragma once

#include <cstdint>
#include <vector>

#include "cases.h"

namespace thetatree {

struct C45Rules {
  int n_classes = 0;
  bool ratio = true;              // chosen by gain ratio under the guard of the average gain, else by gain
  bool mdl = true;                // a number's gain pays log2(cuts) / cases
  bool subsets = false;           // group the values of a category
  bool binary_categories = false; // one value against the others
  bool once_per_path = false;
  bool collapse = true;
  double min_cases = 2;           // that at least two branches need
  double min_split = 2;           // that a node needs
  double min_ratio = 0;
  double min_decrease = 0;        // of impurity, weighted by the node's share of the root
  double min_impurity = 0;
  int64_t max_depth = -1;
  int64_t max_features = 0;       // 0: all
  uint64_t seed = 0;
  int n_threads = 1;
};

// Weights and counts that come of parts are forgiven this much at a limit.
constexpr double kForgiven = 1e-9;

// x log2 x, from a table where x is a small whole number: complete data of weight 1 have no others.
class Entropies {
 public:
  explicit Entropies(int64_t most);
  double operator()(double x) const {
    if (!(x < size_)) return x_log2_x(x);
    const auto whole = static_cast<uint64_t>(x);
    return static_cast<double>(whole) == x ? table_[whole] : x_log2_x(x);
  }

 private:
  std::vector<double> table_;
  double size_;
};

// What is found of one feature. It counts in the average gain if `possible`.
struct C45Found {
  bool possible = false;
  double gain = 0, info = 0;
  double uncorrected = 0;  // the gain before a number pays for its cuts
  uint32_t above = 0;      // of a number: the next code in the node
  BranchSplit split;
};

// A node's cases as the features' searches read them.
struct C45Node {
  Cases cases;
  std::vector<int32_t> classes;  // of each case
  double weight = 0;
  double impurity = 0;
};

struct C45Scratch {
  std::vector<uint64_t> keys;
  std::vector<uint32_t> code;
  std::vector<double> tally, dense, left, known;
};

class C45Search {
 public:
  C45Search(const Columns& columns, const C45Rules& rules, double root_weight, int64_t most_cases);

  C45Found feature(const C45Node& node, int64_t feature, C45Scratch& scratch) const;

  // The best of these features, or -1.
  int64_t choose(const C45Node& node, const std::vector<int64_t>& features, const std::vector<C45Found>& found) const;

 private:
  struct Levels;
  void number(const C45Node& node, int64_t feature, C45Scratch& scratch, C45Found& out) const;
  void category(const C45Node& node, int64_t feature, C45Scratch& scratch, C45Found& out) const;
  void one_against_others(const C45Node& node, const Levels& levels, C45Scratch& scratch, C45Found& out) const;
  void groups(const C45Node& node, const Levels& levels, C45Found& out) const;
  Levels dense_levels(const C45Node& node, int64_t feature, C45Scratch& scratch) const;
  Levels sorted_levels(const C45Node& node, int64_t feature, C45Scratch& scratch) const;
  Levels levels_of(const C45Node& node, int64_t feature, C45Scratch& scratch) const;
  double entropy_sum(const double* tally) const;  // n log n less that of its classes
  double worth(double gain, double info) const;
  bool many_values(int64_t feature) const;

  const Columns& columns_;
  const C45Rules& rules_;
  double root_weight_;
  bool all_have_many_ = false;
  Entropies f_;
};

}  // namespace thetatree
