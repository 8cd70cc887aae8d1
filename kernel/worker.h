// One thread's part in growing: nodes are counted, searched and divided.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "byte_tally.h"
#include "grow.h"
#include "significance.h"
#include "value_order.h"

namespace thetatree {

// What passes from a node to one of its children: whole counts that need not be taken twice.
struct NodeTally {
  std::vector<double> packed;  // present tallies by slot
  std::vector<double> ones;    // of sparse columns of two values
  ByteTally bytes;
};

// A node that is grown; `first` and `last` bound its rows until it is split.
struct Node {
  int64_t first = 0, last = 0;
  int64_t depth = 0;
  uint64_t key = 0;
  Monotonic bounds;
  double weight = 0, impurity = 0;
  double centre = 0;  // what the sums of y are taken from
  std::vector<double> value;
  int64_t feature = -1;  // -1: a leaf, as far as is known
  FeatureSplit split;
  double threshold = 0;
  double decrease = 0;  // weighted by the node's share of the root
  Sample sample;        // its rows, to judge the split above by
  double n_tried = 1;   // candidates of the split's feature, times the features: see significance
  int64_t left = -1, right = -1;
  std::vector<double> trace;  // each feature's best score
  std::unique_ptr<NodeTally> tally;
  int64_t size() const { return last - first; }
};

// What all workers share. A worker touches the rows of its own nodes only.
struct Growth {
  Growth(const Columns& columns, const Target& target, const GrowRules& rules);

  const Columns& columns;
  const Target& target;
  GrowRules rules;
  std::vector<uint32_t> rows, swap;  // grouped by class
  std::vector<char> goes_left;
  std::unique_ptr<ByteRows> table;   // where bins are counted
  std::vector<uint32_t> rank_of_y;   // by row; absolute error only
  std::vector<int64_t> all;                  // every feature
  std::vector<std::vector<int64_t>> tiers;   // in the order in which they are tried, each in column order
  bool has_binned = false;
  double root_weight = 0, root_loss = 0;

  bool classifies() const { return rules.n_classes > 0; }

 private:
  void order_rows();
  void order_features();
};

class Worker {
 public:
  // `in_order`: a node's descendants are all grown before any node beside it.
  Worker(Growth& growth, int n_threads, bool in_order)
      : growth_(growth), columns_(growth.columns), target_(growth.target), rules_(growth.rules),
        n_threads_(n_threads), in_order_(in_order), scratch_(std::max(1, n_threads)) {}

  // Counts the node, and finds its best split unless a rule makes it a leaf.
  bool examine(std::vector<Node>& nodes, int64_t id);
  // Parts its rows, and appends its children.
  void divide(std::vector<Node>& nodes, int64_t id);
  RootCandidates candidates(Node& root);
  double loss(const Node& node) const { return node.weight * node.impurity; }

 private:
  bool prepare(Node& node);
  bool must_stay(const Node& node) const;
  void count_rows(Node& node);
  void count_classes(Node& node);
  void sum_target(Node& node);
  void clip_value(Node& node);

  int64_t choose(Node& node, std::vector<FeatureSplit>& found);
  int64_t choose_among(Node& node, const std::vector<int64_t>& features, std::vector<FeatureSplit>& found,
                       double least);
  void search(Node& node, const std::vector<int64_t>& features, std::vector<FeatureSplit>& found);
  void tally(Node& node, int n_threads);
  bool keeps_lists(const Node& node) const;
  bool counts_bins(const Node& node) const;
  bool counts_ones(const Node& node) const;
  void find_hopeful(const NodeView& view, const std::vector<int64_t>& features);
  double floor_of(NodeView& view, const std::vector<int64_t>& features, int n_threads);
  int64_t best_of(const Node& node, const std::vector<int64_t>& features, const std::vector<FeatureSplit>& found,
                  double least) const;
  double tie_scale(const Node& node) const;
  double n_candidates(int64_t feature, int64_t n) const;
  double n_features_tried(const Node& node);
  bool is_significant(const Node& node);
  double place_threshold(const Node& node, int64_t feature, const FeatureSplit& split) const;
  int direction_of(int64_t feature) const { return rules_.monotonic.empty() ? 0 : rules_.monotonic[feature]; }
  int threads_for(int64_t work) const { return work > 50000 ? n_threads_ : 1; }

  void pass_on(Node& node, Node& left, Node& right);
  void tighten(const Node& node, Monotonic& left, Monotonic& right) const;
  int64_t partition(const Node& node);
  void mark_left(const Node& node, const Column& column);
  void mark_bins(const Node& node, const Column& column);
  template <class GoesLeft>
  void mark(const Node& node, const Column& column, GoesLeft goes_left);

  Growth& growth_;
  const Columns& columns_;
  const Target& target_;
  const GrowRules& rules_;
  const int n_threads_;
  const bool in_order_;
  std::vector<TallyScratch> scratch_;
  std::vector<FeatureSplit> found_;   // by feature
  std::vector<int64_t> searched_;     // where found_ was written to
  double n_splittable_ = -1;          // features that may have a candidate, once they have been counted
  std::vector<Candidate> boundaries_;  // by feature
  ValueLists lists_;

  // Of the node that is being examined.
  NodeRows view_;
  bool pure_ = false;
  std::vector<int64_t> tried_;    // features of which a split was asked
  std::vector<int64_t> hopeful_;  // those of the last asked that some of its rows may tell apart
  Monotonic centred_bounds_;
  SparseTally sparse_;
};

}  // namespace thetatree
