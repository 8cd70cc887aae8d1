// Memory for large arrays that are filled once. Half the time of filling one goes into the system's handing out of
// small pages, so large pages are asked for where there are any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace thetatree {

struct GiveBack {
  void operator()(void* memory) const { std::free(memory); }
};

// Room for n items, to be given to std::free.
inline void* take_memory(std::size_t n, std::size_t item_size) {
  if (n > SIZE_MAX / 2 / item_size) throw std::bad_alloc();
  const std::size_t bytes = n * item_size;
  void* memory = nullptr;
#if defined(__linux__) && !defined(THETATREE_SANITIZE)
  constexpr std::size_t kLargePage = 2 << 20;
  if (bytes >= 2 * kLargePage) {
    memory = std::aligned_alloc(kLargePage, (bytes + kLargePage - 1) / kLargePage * kLargePage);
    if (memory) madvise(memory, bytes, MADV_HUGEPAGE);
  }
#endif
  if (!memory) memory = std::malloc(bytes > 0 ? bytes : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace thetatree
