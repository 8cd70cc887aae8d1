// How a call that runs long is stopped. Loops call poll(): in the thread that was called it asks now and then whether
// somebody wants the call to end (Ctrl-C, in Python), and once that is so it throws Interrupted in every thread that
// works for the call. A poll costs some nanoseconds, so it stands where microseconds of work lie between two of them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

#if defined(__linux__)
#include <ctime>
#endif

namespace thetatree {

struct Interrupted {};

enum class Wanted { no, yes, never };  // never: nor later

class StopToken {
 public:
  // `wanted` is asked in the thread that made the token, and in no other.
  explicit StopToken(Wanted (*wanted)()) : wanted_(wanted), next_(now() + kPause) {}

  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  void ask() {
    const int64_t at = now();
    if (at < next_) return;
    const Wanted answer = wanted_();
    if (answer == Wanted::yes) stopped_.store(true, std::memory_order_relaxed);
    next_ = answer == Wanted::no ? now() + kPause : std::numeric_limits<int64_t>::max();
  }

 private:
  static constexpr int64_t kPause = 100'000'000;  // nanoseconds

  // A coarse clock is read in a quarter of the time, and is right to some milliseconds.
  static int64_t now() {
#if defined(__linux__)
    timespec at;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &at);
    return int64_t{at.tv_sec} * 1'000'000'000 + at.tv_nsec;
#else
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
#endif
  }

  Wanted (*const wanted_)();
  int64_t next_;
  std::atomic<bool> stopped_{false};
};

// What this thread works for; `asks` in the thread that was called.
struct Stop {
  StopToken* token = nullptr;
  bool asks = false;
};
inline constinit thread_local Stop this_stop;

// Makes a thread work for a call as long as it lives.
class WorksFor {
 public:
  explicit WorksFor(Stop stop) : before_(this_stop) { this_stop = stop; }
  ~WorksFor() { this_stop = before_; }
  WorksFor(const WorksFor&) = delete;
  WorksFor& operator=(const WorksFor&) = delete;

 private:
  const Stop before_;
};

inline void poll() {
  StopToken* const token = this_stop.token;
  if (!token) return;
  if (this_stop.asks) token->ask();
  if (token->stopped()) throw Interrupted();
}

// For loops over rows: a poll every kPolledRows.
constexpr int64_t kPolledRows = 1 << 16;
inline void poll_at(int64_t row) {
  if ((row & (kPolledRows - 1)) == 0) poll();
}

}  // namespace thetatree
