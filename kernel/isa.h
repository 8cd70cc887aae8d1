// Instruction sets are picked at run time where a loop gains from them: GCC compiles such a function
// once per level and the loader resolves it. Elsewhere (other compilers, arm64) the plain loop stands.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__) && \
    !defined(THETATREE_SANITIZE)
#define THETATREE_X86_CLONES 1
#define THETATREE_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
inline bool has_x86_64_v4() {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512cd");
  return has;
}
#else
#define THETATREE_X86_CLONES 0
#define THETATREE_CLONES
#endif
