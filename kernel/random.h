// Counter-based random numbers: a node's stream depends on its path from the root, not on the order
// in which nodes happen to be grown.
#pragma once

#include <cstdint>

namespace thetatree {

inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

inline uint64_t child_key(uint64_t parent, uint64_t branch) { return mix(parent ^ mix(branch + 1)); }

class Random {
 public:
  explicit Random(uint64_t key) : state_(key) {}
  uint64_t next() { return mix(state_++); }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  // Below n, by multiplication; the bias is under n / 2^64.
  uint64_t below(uint64_t n) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * n) >> 64);
  }

 private:
  uint64_t state_;
};

}  // namespace thetatree
