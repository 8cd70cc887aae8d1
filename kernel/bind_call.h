// What every call from Python goes through that may run long: the interpreter's lock is released meanwhile, and an
// interrupt (Ctrl-C) ends the call with what the signal's handler raised, as it would end a loop in Python.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <type_traits>
#include <utility>

#include "interrupt.h"

namespace thetatree {

// Whether a signal's handler has raised. Handlers run in Python's main thread only, so a call from any other is held
// up by asking once.
inline Wanted signal_raised() {
  const nanobind::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) return Wanted::yes;
  const nanobind::object main = nanobind::module_::import_("threading").attr("main_thread")().attr("ident");
  return nanobind::cast<unsigned long>(main) == PyThread_get_thread_ident() ? Wanted::no : Wanted::never;
}

template <class Work>
auto run_unlocked(Work&& work) {
  using Result = std::invoke_result_t<Work>;
  std::conditional_t<std::is_void_v<Result>, std::optional<bool>, std::optional<Result>> result;
  StopToken token(signal_raised);
  {
    const nanobind::gil_scoped_release release;
    const WorksFor call({&token, true});
    try {
      if constexpr (std::is_void_v<Result>) work();
      else result.emplace(work());
    } catch (const Interrupted&) {
    }
  }
  if (token.stopped()) throw nanobind::python_error();
  if constexpr (!std::is_void_v<Result>) return std::move(*result);
}

}  // namespace thetatree
