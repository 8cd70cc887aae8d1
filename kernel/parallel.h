// Threads that live for one call: nothing survives a fit, so forking between fits is safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "interrupt.h"

namespace thetatree {

// Waits until `holds`; the thread that was called goes on asking whether the call is to end, for which the others
// listen.
template <class Holds>
void wait_and_ask(std::condition_variable& changed, std::unique_lock<std::mutex>& guard, const Holds& holds) {
  constexpr std::chrono::milliseconds kPause(50);
  if (!this_stop.asks) return changed.wait(guard, holds);
  while (!changed.wait_for(guard, kPause, holds)) {
    guard.unlock();
    this_stop.token->ask();
    guard.lock();
  }
}

// Calls body(task, thread) for every task in [0, n_tasks); which thread takes which task is left to
// chance, so a body may write only what belongs to its task or to its thread.
template <class Body>
void parallel_for(int n_threads, int64_t n_tasks, const Body& body) {
  n_threads = static_cast<int>(std::min<int64_t>(n_threads, n_tasks));
  if (n_threads <= 1) {
    for (int64_t task = 0; task < n_tasks; ++task) {
      poll();
      body(task, 0);
    }
    return;
  }
  std::atomic<int64_t> next{0};
  std::exception_ptr failure;
  std::mutex lock;
  std::condition_variable ended;
  int n_working = 0;
  const auto work = [&](int thread) {
    try {
      for (int64_t task = next++; task < n_tasks; task = next++) {
        poll();
        body(task, thread);
      }
    } catch (...) {
      std::lock_guard<std::mutex> guard(lock);
      if (!failure) failure = std::current_exception();
      next = n_tasks;
    }
  };
  std::vector<std::thread> helpers;
  helpers.reserve(n_threads - 1);
  try {
    for (int thread = 1; thread < n_threads; ++thread) {
      {
        std::lock_guard<std::mutex> guard(lock);
        ++n_working;
      }
      helpers.emplace_back([&, thread, token = this_stop.token] {
        const WorksFor call({token, false});
        work(thread);
        std::lock_guard<std::mutex> guard(lock);
        --n_working;
        ended.notify_one();
      });
    }
  } catch (...) {  // no room for one more thread: those that run do the work
    std::lock_guard<std::mutex> guard(lock);
    --n_working;
  }
  work(0);
  {
    std::unique_lock<std::mutex> guard(lock);
    wait_and_ask(ended, guard, [&] { return n_working == 0; });
  }
  for (auto& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

// Calls body(task, thread, push) for every task on a stack, to which a body may push more; the last one pushed is
// taken first. Who takes what is left to chance here, too.
template <class Task, class Body>
void parallel_stack(int n_threads, std::vector<Task> stack, const Body& body) {
  std::mutex lock;
  std::condition_variable changed;
  int n_busy = 0;
  std::exception_ptr failure;
  parallel_for(n_threads, std::max(1, n_threads), [&](int64_t, int thread) {
    std::vector<Task> pushed;
    const auto push = [&](Task task) { pushed.push_back(std::move(task)); };
    std::unique_lock<std::mutex> guard(lock);
    for (;;) {
      wait_and_ask(changed, guard, [&] { return !stack.empty() || n_busy == 0 || failure; });
      if (stack.empty() || failure) return;
      Task task = std::move(stack.back());
      stack.pop_back();
      ++n_busy;
      guard.unlock();
      std::exception_ptr own;
      try {
        poll();
        body(std::move(task), thread, push);
      } catch (...) {
        own = std::current_exception();
      }
      guard.lock();
      --n_busy;
      try {
        stack.insert(stack.end(), std::make_move_iterator(pushed.begin()), std::make_move_iterator(pushed.end()));
      } catch (...) {
        own = std::current_exception();
      }
      if (own && !failure) failure = own;
      pushed.clear();
      changed.notify_all();
    }
  });
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
