// A node's rows in the order of a binned column's values.
//
//   item    code << 32 | position in the node; items ascend, so positions do where codes are equal
//   code    of an item: ascending with the value and equal where the value is; its meaning ends with the node
//   list    the items of one column for a small node, which are parted with the node's rows instead of sorted anew
#pragma once

#include <cstdint>
#include <vector>

#include "columns.h"
#include "tally.h"

namespace thetatree {

constexpr uint32_t kMissingItem = UINT32_MAX;  // the code of missing values; they come last

// Fills scratch.sorted with all rows of the node.
void order_rows(const Column& column, const NodeRows& node, TallyScratch& scratch);

// Gives the items [begin, end) of one bin, which come with their positions only, codes from `next_code` on, and
// sorts them. Returns the code that is next.
uint32_t order_bin(const Column& column, const NodeRows& node, uint64_t* begin, uint64_t* end, uint32_t next_code,
                   TallyScratch& scratch);

// Sorted once for a node of few rows, the lists stay sorted for all nodes below it.
class ValueLists {
 public:
  static constexpr int64_t kMostRows = 0xffff;
  static constexpr uint32_t kMissing = 0xffff;

  bool covers(int64_t first, int64_t last) const { return first >= first_ && last <= last_; }
  // Lists of the binned columns for the node whose rows begin at `first`.
  void build(const Columns& columns, const NodeRows& node, int64_t first, TallyScratch& scratch);
  // Makes a node below the one they were built for the current one.
  void turn_to(int64_t first, int64_t n);
  // Parts the current node's lists as goes_left (by position) says.
  void divide(const char* goes_left);

  // Of the current node: code << 16 | id. An id stands for a row of the node that the lists were built for.
  const uint32_t* list(int64_t feature) const { return items_.data() + slot_[feature] * size_ + from_; }
  int64_t position(uint32_t item) const { return position_[item & 0xffff]; }
  int class_of(uint32_t item) const { return class_of_[item & 0xffff]; }

 private:
  int64_t first_ = 0, last_ = -1, size_ = 0;
  int64_t from_ = 0, n_ = 0;  // the current node
  std::vector<int64_t> slot_;
  std::vector<uint32_t> items_, swap_;
  std::vector<uint16_t> ids_, class_of_, position_;
  std::vector<char> left_;  // by id
  int64_t n_lists_ = 0;
};

}  // namespace thetatree
