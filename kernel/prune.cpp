#include "prune.h"

#include <functional>
#include <queue>
#include <utility>

#include "interrupt.h"

namespace thetatree {
namespace {

class Pruner {
 public:
  Pruner(int64_t n_nodes, const int64_t* child_start, const int32_t* child, const double* risk)
      : n_(n_nodes), child_start_(child_start), child_(child), risk_(risk), parent_(n_nodes, -1),
        leaves_(n_nodes), branch_risk_(n_nodes), queued_(n_nodes), gone_(n_nodes) {
    for (int64_t node = 0; node < n_; ++node)
      for (int64_t c = child_start_[node]; c < child_start_[node + 1]; ++c) parent_[child_[c]] = node;
    for (int64_t node = n_ - 1; node >= 0; --node) {
      if (is_leaf(node)) {
        leaves_[node] = 1;
        branch_risk_[node] = risk_[node];
      }
      if (node > 0) {
        leaves_[parent_[node]] += leaves_[node];
        branch_risk_[parent_[node]] += branch_risk_[node];
      }
    }
  }

  // A cut only raises the alphas above it, so an entry that is out of date stands too early in the queue
  // and is put back when it is met. (Rounding can lower one: then the cut enters it anew.)
  std::vector<PruneStep> run(double most) {
    for (int64_t node = 0; node < n_; ++node)
      if (!is_leaf(node)) enter(node);
    std::vector<PruneStep> steps;
    while (!queue_.empty()) {
      poll();
      const auto [value, node] = queue_.top();
      queue_.pop();
      if (gone_[node] || value != queued_[node]) continue;
      if (alpha(node) > value) {
        enter(node);
        continue;
      }
      if (value > most) break;
      cut(node);
      steps.push_back({node, value, branch_risk_[0]});
    }
    return steps;
  }

  double root_risk() const { return branch_risk_[0]; }

 private:
  bool is_leaf(int64_t node) const { return child_start_[node] == child_start_[node + 1]; }
  double alpha(int64_t node) const {
    return (risk_[node] - branch_risk_[node]) / static_cast<double>(leaves_[node] - 1);
  }

  void enter(int64_t node) {
    queued_[node] = alpha(node);
    queue_.push({queued_[node], node});
  }

  void cut(int64_t node) {
    std::vector<int64_t> below{node};
    while (!below.empty()) {
      const int64_t at = below.back();
      below.pop_back();
      if (gone_[at]) continue;  // an earlier cut has been here
      gone_[at] = true;
      below.insert(below.end(), child_ + child_start_[at], child_ + child_start_[at + 1]);
    }
    const int64_t fewer = leaves_[node] - 1;
    const double more_risk = risk_[node] - branch_risk_[node];
    for (int64_t at = node; at >= 0; at = parent_[at]) {
      leaves_[at] -= fewer;
      branch_risk_[at] += more_risk;
      if (at != node && alpha(at) < queued_[at]) enter(at);
    }
  }

  using Link = std::pair<double, int64_t>;  // alpha, node
  int64_t n_;
  const int64_t* child_start_;
  const int32_t* child_;
  const double* risk_;
  std::vector<int64_t> parent_, leaves_;
  std::vector<double> branch_risk_, queued_;
  std::vector<char> gone_;
  std::priority_queue<Link, std::vector<Link>, std::greater<Link>> queue_;
};

}  // namespace

std::vector<PruneStep> weakest_links(int64_t n_nodes, const int64_t* child_start, const int32_t* child,
                                     const double* risk, double most, double& start_risk) {
  Pruner pruner(n_nodes, child_start, child, risk);
  start_risk = pruner.root_risk();
  return pruner.run(most);
}

}  // namespace thetatree
