// Little- and big-endian words in byte buffers, on any machine; compilers turn each of these into one load or store.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace thetatree {

inline std::uint64_t reversed(std::uint64_t v) {
  v = ((v & 0x00ff00ff00ff00ffULL) << 8) | ((v >> 8) & 0x00ff00ff00ff00ffULL);
  v = ((v & 0x0000ffff0000ffffULL) << 16) | ((v >> 16) & 0x0000ffff0000ffffULL);
  return (v << 32) | (v >> 32);
}

inline std::uint64_t load_little64(const std::uint8_t* p) {
  std::uint64_t v;
  std::memcpy(&v, p, 8);
  return std::endian::native == std::endian::little ? v : reversed(v);
}

inline std::uint64_t load_big64(const std::uint8_t* p) {
  std::uint64_t v;
  std::memcpy(&v, p, 8);
  return std::endian::native == std::endian::little ? reversed(v) : v;
}

inline void store_little64(std::uint8_t* p, std::uint64_t v) {
  v = std::endian::native == std::endian::little ? v : reversed(v);
  std::memcpy(p, &v, 8);
}

inline std::uint64_t load_little(const std::uint8_t* p, int bytes) {
  std::uint64_t v = 0;
  for (int i = 0; i < bytes; ++i) {
    v |= static_cast<std::uint64_t>(p[i]) << (8 * i);
  }
  return v;
}

inline void store_little(std::uint8_t* p, std::uint64_t v, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    p[i] = static_cast<std::uint8_t>(v >> (8 * i));
  }
}

}  // namespace thetatree
