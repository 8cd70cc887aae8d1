// Sorting by hash. Hashes are spread evenly, so passes over their leading bits put all but a few in order, and
// insertion does the rest. A file may hold what no hash function gave: insertion is called off where it has much to
// do.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "interrupt.h"

namespace thetatree {

// Sorts items by hash_of(item), all of them `low` or above.
template <class Item, class HashOf>
void sort_by_hash(std::vector<Item>& items, std::vector<Item>& swap, uint64_t low, const HashOf& hash_of) {
  const auto ascending = [&](const Item& a, const Item& b) { return hash_of(a) < hash_of(b); };
  constexpr size_t kFew = 128;
  if (items.size() < kFew) {
    std::sort(items.begin(), items.end(), ascending);
    return;
  }
  const int bits = items.size() < 4096 ? 8 : 11;
  const uint64_t mask = (1ULL << bits) - 1;
  uint64_t most = 0;
  for (const Item& item : items) most = std::max(most, hash_of(item) - low);
  const int n_passes = 1 + static_cast<int>(std::bit_width(items.size()) - 1) / bits;
  const int from = std::max(0, static_cast<int>(std::bit_width(most)) - n_passes * bits);
  swap.resize(items.size());
  std::vector<uint32_t> count(mask + 1);
  for (int pass = 0; pass < n_passes; ++pass) {
    poll();
    const int shift = from + pass * bits;
    std::fill(count.begin(), count.end(), 0);
    for (const Item& item : items) ++count[(hash_of(item) - low) >> shift & mask];
    uint32_t total = 0;
    for (uint32_t& place : count) total += std::exchange(place, total);
    for (const Item& item : items) swap[count[(hash_of(item) - low) >> shift & mask]++] = item;
    items.swap(swap);
  }
  size_t moves = 0;
  for (size_t i = 1; i < items.size(); ++i) {
    if (!ascending(items[i], items[i - 1])) continue;
    const Item item = items[i];
    size_t j = i;
    for (; j > 0 && ascending(item, items[j - 1]); --j) items[j] = items[j - 1];
    items[j] = item;
    moves += i - j;
    if (moves > 8 * items.size() + 1000) {
      std::sort(items.begin(), items.end(), ascending);
      return;
    }
  }
}

}  // namespace thetatree
