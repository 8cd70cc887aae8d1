// Instruction sets are picked at run time where a loop gains from them: GCC compiles such a function
// once per level and the loader resolves it. Elsewhere (other compilers, arm64) the plain loop stands.
// Tests hold a build to a lower level with THETATREE_ISA: 1 for plain x86-64, 3 for AVX2.
#pragma once

#ifndef THETATREE_ISA
#define THETATREE_ISA 4
#endif

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__) && THETATREE_ISA >= 4
#define THETATREE_X86_64_V4 1
#else
#define THETATREE_X86_64_V4 0
#endif

// The sanitizers are not ready yet when the loader resolves functions.
#if THETATREE_X86_64_V4 && !defined(THETATREE_SANITIZE)
#define THETATREE_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#elif THETATREE_ISA == 3
#define THETATREE_CLONES __attribute__((target("arch=x86-64-v3")))
#else
#define THETATREE_CLONES
#endif

#if THETATREE_X86_64_V4
inline bool has_x86_64_v4() {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512cd");
  return has;
}
#endif
