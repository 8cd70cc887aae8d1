// What the rewritten kernel calls instead of its operators: the operator itself, or, where the mutant of that number
// is the active one, the operator that it was mutated into. Every call also notes that its place was reached.
#pragma once

#include <cstdint>
#include <type_traits>

#define MUTANT_INLINE [[gnu::always_inline]] inline

namespace mutant {

constexpr int kMost = 1 << 15;

// The file that THETATREE_MUTANTS names, shared with the tests' runner.
struct Board {
  int32_t active;
  uint8_t seen[kMost];
};

extern Board* board;

template <int id>
MUTANT_INLINE bool on() {
  board->seen[id] = 1;
  return board->active == id;
}

#define MUTANT_PAIR(name, as_is, mutated) \
  template <int id, class A, class B> \
  MUTANT_INLINE auto name(const A& a, const B& b) { \
    return on<id>() ? (mutated) : (as_is); \
  }
MUTANT_PAIR(less, a < b, a <= b)
MUTANT_PAIR(less_equal, a <= b, a < b)
MUTANT_PAIR(greater, a > b, a >= b)
MUTANT_PAIR(greater_equal, a >= b, a > b)
MUTANT_PAIR(equal, a == b, a != b)
MUTANT_PAIR(not_equal, a != b, a == b)
MUTANT_PAIR(plus, a + b, a - b)
MUTANT_PAIR(minus, a - b, a + b)
MUTANT_PAIR(times, a * b, a / b)
MUTANT_PAIR(over, a / b, a * b)
MUTANT_PAIR(modulo, a % b, a / b)
#undef MUTANT_PAIR

#define MUTANT_INTO(name, as_is, mutated) \
  template <int id, class A, class B> \
  MUTANT_INLINE A& name(A& a, const B& b) { \
    if (on<id>()) mutated; \
    else as_is; \
    return a; \
  }
MUTANT_INTO(plus_into, a += b, a -= b)
MUTANT_INTO(minus_into, a -= b, a += b)
MUTANT_INTO(times_into, a *= b, a /= b)
MUTANT_INTO(over_into, a /= b, a *= b)
#undef MUTANT_INTO

template <int id, class A>
MUTANT_INLINE A& up(A& a) {
  if (on<id>()) --a;
  else ++a;
  return a;
}
template <int id, class A>
MUTANT_INLINE A& down(A& a) {
  if (on<id>()) ++a;
  else --a;
  return a;
}
template <int id, class A>
MUTANT_INLINE A up_after(A& a) {
  return on<id>() ? a-- : a++;
}
template <int id, class A>
MUTANT_INLINE A down_after(A& a) {
  return on<id>() ? a++ : a--;
}

template <int id, class A>
MUTANT_INLINE auto negative(const A& a) {
  return on<id>() ? +a : -a;
}

template <int id, class A>
MUTANT_INLINE const A& lesser(const A& a, const A& b) {
  return (b < a) != on<id>() ? b : a;
}
template <int id, class A>
MUTANT_INLINE const A& greater_of(const A& a, const A& b) {
  return (a < b) != on<id>() ? b : a;
}

// A number, and the next higher or lower one.
template <int id, int step, class A>
MUTANT_INLINE A number(A a) {
  return on<id>() ? static_cast<A>(a + step) : a;
}

template <int id, class A>
MUTANT_INLINE bool truth(const A& a) {
  return on<id>() != static_cast<bool>(a);
}

}  // namespace mutant
