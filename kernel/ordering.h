// Orders of categories in which the best two-way grouping is looked for among the prefixes.
#pragma once

#include <cstdint>
#include <vector>

#include "search.h"

namespace thetatree {

// By the mean of y: holds the optimum for squared error (Fisher 1958).
std::vector<int32_t> order_by_mean(const Levels& levels);

// By the share of one class: with two classes, holds the optimum of every convex impurity (Breiman).
std::vector<int32_t> order_by_share(const Levels& levels, int class_index);

// Along the first principal component of the levels' class shares (Coppersmith, Hong and Hosking).
std::vector<int32_t> order_by_component(const Levels& levels, const NodeTotals& node);

}  // namespace thetatree
