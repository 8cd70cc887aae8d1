// Threads that live for one call: nothing survives a fit, so forking between fits is safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace thetatree {

// Calls body(task, thread) for every task in [0, n_tasks); which thread takes which task is left to
// chance, so a body may write only what belongs to its task or to its thread.
template <class Body>
void parallel_for(int n_threads, int64_t n_tasks, const Body& body) {
  n_threads = static_cast<int>(std::min<int64_t>(n_threads, n_tasks));
  if (n_threads <= 1) {
    for (int64_t task = 0; task < n_tasks; ++task) body(task, 0);
    return;
  }
  std::atomic<int64_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_lock;
  auto work = [&](int thread) {
    try {
      for (int64_t task = next++; task < n_tasks; task = next++) body(task, thread);
    } catch (...) {
      std::lock_guard<std::mutex> guard(failure_lock);
      if (!failure) failure = std::current_exception();
      next = n_tasks;
    }
  };
  std::vector<std::thread> helpers;
  helpers.reserve(n_threads - 1);
  for (int thread = 1; thread < n_threads; ++thread) helpers.emplace_back(work, thread);
  work(0);
  for (auto& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

// Splits [0, n) into chunks of `chunk` and calls body(begin, end, thread).
template <class Body>
void parallel_chunks(int n_threads, int64_t n, int64_t chunk, const Body& body) {
  const int64_t n_chunks = (n + chunk - 1) / chunk;
  parallel_for(n_threads, n_chunks, [&](int64_t task, int thread) {
    body(task * chunk, std::min(n, (task + 1) * chunk), thread);
  });
}

}  // namespace thetatree
