#include "rank.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "interrupt.h"

namespace thetatree {
namespace {

constexpr int kDigitBits = 11;
constexpr int kDigits = 1 << kDigitBits;

void store_codes(Column& column, int64_t n) {
  const uint32_t highest = column.levels;  // the code of a missing value
  if (highest <= 0xff) {
    column.store = Store::u8;
    column.codes8.resize(n);
  } else if (highest <= 0xffff) {
    column.store = Store::u16;
    column.codes16.resize(n);
  } else {
    column.store = Store::u32;
    column.codes32.resize(n);
  }
}

template <class Body>
void with_codes(Column& column, Body&& body) {
  if (column.store == Store::u8) body(column.codes8.data());
  else if (column.store == Store::u16) body(column.codes16.data());
  else body(column.codes32.data());
}

// Least significant digit first; a digit that all keys share costs nothing but its count.
template <class Item, class DigitOf>
void radix_sort(std::vector<Item>& items, std::vector<Item>& swap, int n_passes, DigitOf digit_of) {
  swap.resize(items.size());
  std::vector<std::array<uint32_t, kDigits>> counts(n_passes);
  for (auto& count : counts) count.fill(0);
  for (const Item& item : items)
    for (int pass = 0; pass < n_passes; ++pass) ++counts[pass][digit_of(item, pass)];
  for (int pass = 0; pass < n_passes; ++pass) {
    poll();
    auto& count = counts[pass];
    if (!items.empty() && count[digit_of(items[0], pass)] == items.size()) continue;
    uint32_t total = 0;
    for (auto& c : count) total += std::exchange(c, total);
    for (const Item& item : items) swap[count[digit_of(item, pass)]++] = item;
    items.swap(swap);
  }
}

void rank_narrow(const double* values, int64_t n, Column& column, RankScratch& s) {
  s.narrow.clear();
  s.narrow.reserve(n);
  for (int64_t i = 0; i < n; ++i)
    if (!std::isnan(values[i]))
      s.narrow.push_back(static_cast<uint64_t>(key_of(static_cast<float>(values[i]))) << 32 |
                          static_cast<uint64_t>(i));
  radix_sort(s.narrow, s.narrow_swap, 3, [](uint64_t pair, int pass) {
    return static_cast<uint32_t>(pair >> (32 + pass * kDigitBits)) & (kDigits - 1);
  });
  const auto& sorted = s.narrow;
  uint32_t levels = sorted.empty() ? 0 : 1;
  for (size_t i = 1; i < sorted.size(); ++i) levels += (sorted[i] >> 32) != (sorted[i - 1] >> 32);
  column.levels = levels;
  column.has_missing = static_cast<int64_t>(sorted.size()) < n;
  store_codes(column, n);
  with_codes(column, [&](auto* codes) {
    using Code = std::remove_reference_t<decltype(*codes)>;
    if (column.has_missing) std::fill(codes, codes + n, static_cast<Code>(levels));
    uint32_t rank = 0;
    for (size_t i = 0; i < sorted.size(); ++i) {
      if (i > 0) rank += (sorted[i] >> 32) != (sorted[i - 1] >> 32);
      codes[static_cast<uint32_t>(sorted[i])] = static_cast<Code>(rank);
    }
  });
}

void rank_wide(const double* values, int64_t n, Column& column, RankScratch& s) {
  auto& sorted = s.wide;
  sorted.clear();
  sorted.reserve(n);
  for (int64_t i = 0; i < n; ++i)
    if (!std::isnan(values[i])) sorted.push_back({key_of(values[i]), static_cast<uint32_t>(i)});
  radix_sort(sorted, s.wide_swap, 6, [](const WidePair& pair, int pass) {
    return static_cast<uint32_t>(pair.key >> (pass * kDigitBits)) & (kDigits - 1);
  });
  uint32_t levels = sorted.empty() ? 0 : 1;
  for (size_t i = 1; i < sorted.size(); ++i) levels += sorted[i].key != sorted[i - 1].key;
  column.levels = levels;
  column.has_missing = static_cast<int64_t>(sorted.size()) < n;
  store_codes(column, n);
  with_codes(column, [&](auto* codes) {
    using Code = std::remove_reference_t<decltype(*codes)>;
    if (column.has_missing) std::fill(codes, codes + n, static_cast<Code>(levels));
    uint32_t rank = 0;
    for (size_t i = 0; i < sorted.size(); ++i) {
      if (i > 0) rank += sorted[i].key != sorted[i - 1].key;
      codes[sorted[i].row] = static_cast<Code>(rank);
    }
  });
}

}  // namespace

bool rank_few(const double* values, int64_t n, int most, Column& column) {
  constexpr int kSlots = 1024;
  std::array<double, kSlots> slot_value;
  std::array<int16_t, kSlots> slot_id;
  slot_id.fill(-1);
  std::vector<double> distinct;
  auto find = [&](double value) -> int {
    uint64_t at = (std::bit_cast<uint64_t>(value) * 0x9e3779b97f4a7c15ULL) >> 54;
    while (slot_id[at] >= 0 && slot_value[at] != value) at = (at + 1) & (kSlots - 1);
    if (slot_id[at] >= 0) return slot_id[at];
    if (static_cast<int>(distinct.size()) == most) return -1;
    slot_value[at] = value;
    slot_id[at] = static_cast<int16_t>(distinct.size());
    distinct.push_back(value);
    return slot_id[at];
  };
  std::vector<uint8_t> ids(n);
  bool missing = false;
  double last = std::nan("");
  int last_id = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double value = values[i] == 0.0 ? 0.0 : values[i];
    if (std::isnan(value)) {
      missing = true;
      continue;
    }
    if (value != last) {
      last_id = find(value);
      if (last_id < 0) return false;
      last = value;
    }
    ids[i] = static_cast<uint8_t>(last_id);
  }
  std::vector<int> order(distinct.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return distinct[a] < distinct[b]; });
  std::array<uint8_t, 256> rank{};
  for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<uint8_t>(i);
  column.levels = static_cast<uint32_t>(distinct.size());
  column.has_missing = missing;
  column.store = Store::u8;
  column.codes8.resize(n);
  const uint8_t missing_code = static_cast<uint8_t>(column.levels);
  for (int64_t i = 0; i < n; ++i)
    column.codes8[i] = std::isnan(values[i]) ? missing_code : rank[ids[i]];
  return true;
}

void rank_values(const double* values, int64_t n, bool narrow, Column& column, RankScratch& scratch) {
  if (rank_few(values, n, kMostBins, column)) return;
  if (!narrow) {
    narrow = true;
    for (int64_t i = 0; i < n && narrow; ++i)
      narrow = std::isnan(values[i]) || static_cast<double>(static_cast<float>(values[i])) == values[i];
  }
  if (narrow) rank_narrow(values, n, column, scratch);
  else rank_wide(values, n, column, scratch);
}

}  // namespace thetatree
