#include "value_order.h"

#include <algorithm>
#include <array>

#include "rank.h"

namespace thetatree {
namespace {

constexpr int64_t kInsertion = 24;

void sort_few(uint64_t* begin, uint64_t* end) {
  for (uint64_t* i = begin + 1; i < end; ++i) {
    const uint64_t item = *i;
    uint64_t* to = i;
    for (; to > begin && to[-1] > item; --to) *to = to[-1];
    *to = item;
  }
}

uint32_t order_narrow(const Column& column, const NodeRows& node, uint64_t* begin, uint64_t* end,
                      TallyScratch& scratch) {
  uint32_t lowest = UINT32_MAX, highest = 0;
  with_type(column.raw.type, [&]<class T>() {
    for (uint64_t* item = begin; item < end; ++item) {
      const uint32_t key = key_of(static_cast<float>(column.raw.at<T>(node.rows[*item])));
      lowest = std::min(lowest, key);
      highest = std::max(highest, key);
      *item |= static_cast<uint64_t>(key) << 32;
    }
  });
  if (end - begin <= kInsertion) sort_few(begin, end);
  else sort_items(begin, end, lowest, highest, scratch.sorted_swap);
  return 0;  // keys are codes, whatever came before
}

uint32_t order_wide(const Column& column, const NodeRows& node, uint64_t* begin, uint64_t* end, uint32_t next_code,
                    TallyScratch& scratch) {
  auto& pairs = scratch.pairs;
  pairs.clear();
  for (const uint64_t* item = begin; item < end; ++item)
    pairs.push_back({key_of(column.raw.number(node.rows[*item])), static_cast<uint32_t>(*item)});
  std::sort(pairs.begin(), pairs.end(), [](const WidePair& a, const WidePair& b) {
    return a.key != b.key ? a.key < b.key : a.row < b.row;
  });
  for (size_t i = 0; i < pairs.size(); ++i) {
    next_code += i > 0 && pairs[i].key != pairs[i - 1].key;
    begin[i] = static_cast<uint64_t>(next_code) << 32 | pairs[i].row;
  }
  return next_code + 1;
}

}  // namespace

uint32_t order_bin(const Column& column, const NodeRows& node, uint64_t* begin, uint64_t* end, uint32_t next_code,
                   TallyScratch& scratch) {
  if (begin == end) return next_code;
  return column.narrow ? order_narrow(column, node, begin, end, scratch)
                       : order_wide(column, node, begin, end, next_code, scratch);
}

void order_rows(const Column& column, const NodeRows& node, TallyScratch& scratch) {
  const uint8_t* bins = column.codes8.data();
  std::array<uint32_t, 257> start{};
  for (int64_t i = 0; i < node.n; ++i) ++start[bins[node.rows[i]] + 1];
  for (int bin = 0; bin < 256; ++bin) start[bin + 1] += start[bin];
  scratch.sorted.resize(node.n);
  uint64_t* const items = scratch.sorted.data();
  std::array<uint32_t, 257> at = start;
  for (int64_t i = 0; i < node.n; ++i) items[at[bins[node.rows[i]]]++] = static_cast<uint64_t>(i);
  uint32_t code = 0;
  for (uint32_t bin = 0; bin < column.levels; ++bin)
    code = order_bin(column, node, items + start[bin], items + start[bin + 1], code, scratch);
  for (int64_t i = start[column.levels]; i < node.n; ++i) items[i] |= static_cast<uint64_t>(kMissingItem) << 32;
}

void ValueLists::build(const Columns& columns, const NodeRows& node, int64_t first, TallyScratch& scratch) {
  first_ = first;
  last_ = first + node.n;
  size_ = node.n;
  slot_.assign(columns.n_features(), -1);
  n_lists_ = 0;
  for (int64_t f = 0; f < columns.n_features(); ++f)
    if (columns.column(f).store == Store::binned) slot_[f] = n_lists_++;
  items_.resize(n_lists_ * size_);
  swap_.resize(size_);
  position_.resize(size_);
  left_.resize(size_);
  class_of_.assign(size_, 0);
  if (node.measure != Measure::sums)
    for_each_row(node, [&](int64_t i, int k) { class_of_[i] = static_cast<uint16_t>(k); });
  ids_.resize(size_);
  for (int64_t i = 0; i < size_; ++i) ids_[i] = static_cast<uint16_t>(i);
  for (int64_t f = 0; f < columns.n_features(); ++f) {
    if (slot_[f] < 0) continue;
    order_rows(columns.column(f), node, scratch);
    uint32_t* out = items_.data() + slot_[f] * size_;
    uint32_t code = 0, last = 0;
    for (int64_t i = 0; i < size_; ++i) {
      const uint32_t of_item = static_cast<uint32_t>(scratch.sorted[i] >> 32);
      code += i > 0 && of_item != last;
      last = of_item;
      out[i] = (of_item == kMissingItem ? kMissing : code) << 16 | static_cast<uint32_t>(scratch.sorted[i]);
    }
  }
  turn_to(first, node.n);
}

void ValueLists::turn_to(int64_t first, int64_t n) {
  from_ = first - first_;
  n_ = n;
  for (int64_t i = 0; i < n; ++i) position_[ids_[from_ + i]] = static_cast<uint16_t>(i);
}

void ValueLists::divide(const char* goes_left) {
  for (int64_t i = 0; i < n_; ++i) left_[ids_[from_ + i]] = goes_left[i];
  for (int64_t slot = 0; slot < n_lists_; ++slot) {
    uint32_t* const items = items_.data() + slot * size_ + from_;
    int64_t left = 0, right = 0;
    for (int64_t i = 0; i < n_; ++i) {
      const uint32_t item = items[i];
      const bool goes = left_[item & 0xffff] != 0;
      items[left] = item;
      swap_[right] = item;
      left += goes;
      right += !goes;
    }
    std::copy_n(swap_.data(), right, items + left);
  }
  uint16_t* const ids = ids_.data() + from_;
  std::stable_partition(ids, ids + n_, [&](uint16_t id) { return left_[id] != 0; });
}

}  // namespace thetatree
