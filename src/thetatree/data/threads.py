"""How many threads a call may use."""

from __future__ import annotations

import os
from numbers import Integral

_MOST_THREADS = 256


def n_threads(n_jobs: int | None) -> int:
    """Threads for ``n_jobs``: None and -1 mean every core this process may run on.

    Small problems stay on one thread whatever is asked, and results never depend on the number.
    """
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs must be None or a whole number other than 0; got {n_jobs!r}")
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return available
    return min(int(n_jobs), _MOST_THREADS) if n_jobs > 0 else max(1, available + 1 + int(n_jobs))
