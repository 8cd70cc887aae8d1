// Hashes of a stretch and their rows of bits, gathered sketch by sketch and given back in ascending order.
//
// A hash's place in the table is its place in the stretch, so that what comes out is in order but for neighbours.
// Hashes are spread evenly; where a file holds others, the table says that it is crowded, and is not used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace thetatree {

class RowTable {
 public:
  // 2^bits places, for less than half as many hashes.
  RowTable(int64_t n_words, int bits)
      : n_words_(n_words), bits_(bits), hashes_((size_t{1} << bits) + kBeyond), rows_(hashes_.size() * n_words) {}

  // Hashes from low to below low + 2^width.
  void start(uint64_t low, int width) {
    low_ = low;
    shift_ = width > bits_ ? width - bits_ : 0;
  }

  // False where there is no room near the hash's place.
  bool add(uint64_t hash, int32_t column) {
    size_t place = (hash - low_) >> shift_;
    const size_t end = place + kBeyond;
    while (hashes_[place] != hash) {
      if (hashes_[place] == 0) {
        hashes_[place] = hash;
        ++size_;
        break;
      }
      if (++place == end) return false;
    }
    rows_[place * n_words_ + column / 64] |= 1ULL << (column % 64);
    return true;
  }

  int64_t size() const { return size_; }

  // Calls take(hash, row) for each hash, ascending, and forgets it.
  template <class Take>
  void drain(Take&& take) {
    order_.clear();
    for (size_t place = 0; place < hashes_.size() && static_cast<int64_t>(order_.size()) < size_; ++place) {
      if (hashes_[place] == 0) continue;
      order_.emplace_back(hashes_[place], place);
      for (size_t i = order_.size() - 1; i > 0 && order_[i].first < order_[i - 1].first; --i)
        std::swap(order_[i], order_[i - 1]);
    }
    for (const auto& [hash, place] : order_) {
      uint64_t* row = rows_.data() + place * n_words_;
      take(hash, row);
      hashes_[place] = 0;
      for (int64_t w = 0; w < n_words_; ++w) row[w] = 0;
    }
    size_ = 0;
  }

 private:
  static constexpr size_t kBeyond = 32;  // places that a hash may be off its own
  const int64_t n_words_;
  const int bits_;
  uint64_t low_ = 0;
  int shift_ = 0;
  int64_t size_ = 0;
  std::vector<uint64_t> hashes_;  // 0: free
  std::vector<uint64_t> rows_;
  std::vector<std::pair<uint64_t, size_t>> order_;
};

}  // namespace thetatree
