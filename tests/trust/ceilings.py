"""Calls under a ceiling of memory: each is done or ends in MemoryError, at every ceiling on the way up.

    python ceilings.py [STEPS] [ROWS]

For every call forks processes with RLIMIT_AS at STEPS (8 without it) heights above what the process has
already, up to more than the call needs. Prints a line of JSON a call: how many were refused, how many done.
What ends otherwise (a crash, another exception, no end) is printed with its ceiling, and the program fails.
"""

import ctypes
import json
import os
import resource
import signal
import sys
import tempfile
import traceback
from pathlib import Path

import numpy as np
import pandas as pd

import thetatree as tt

RNG = np.random.default_rng(0)
MEGABYTE = 1 << 20
DONE, REFUSED, WRONG = 0, 3, 4
SECONDS = 60


def cases(folder: Path, n: int):
    """Name, call, and megabytes: of the lowest ceiling, and what is surely enough.

    Python itself hangs or aborts where it has no room for a thread's own data, so what starts Python threads,
    or Arrow's, is not asked to live with less than some stacks.
    """
    X, y = RNG.normal(size=(n, 6)), RNG.integers(0, 3, n)
    flags = pd.DataFrame(RNG.random((n, 30)) < 0.2, columns=[f"f{j}" for j in range(30)])
    rows = flags.assign(id=np.arange(n), y=y)
    rows.to_parquet(folder / "rows.parquet")
    made = tt.sketch(rows, key="id", target="y", lg_k=18, n_jobs=1)
    made.write(folder / "set.parquet")
    shallow = {"max_depth": 3, "n_jobs": 2}
    model = tt.CARTClassifier(n_jobs=1, max_depth=10).fit(X, y)
    median = tt.CARTRegressor(criterion="absolute_error", **shallow)
    own = folder / "own"
    own.mkdir()
    return [
        ("fit CART on numbers", lambda: tt.CARTClassifier(**shallow).fit(X, y), 1, 500),
        ("fit CART on flags", lambda: tt.CARTClassifier(**shallow).fit(flags, y), 1, 500),
        ("fit CART by medians", lambda: median.fit(X[:, :2], X[:, 0]), 1, 500),
        ("fit C4.5", lambda: tt.C45Classifier(**shallow).fit(X, y), 1, 900),
        ("predict", lambda: model.predict_proba(X), 1, 300),
        ("fit from sketches", lambda: tt.ThetaSketchDecisionTreeClassifier(**shallow).fit(made), 1, 900),
        ("merge", lambda: made.merge(made, made), 1, 900),
        ("build from memory", lambda: tt.sketch(rows, key="id", target="y", lg_k=18, n_jobs=2), 32, 900),
        (
            "build from a file",
            lambda: tt.sketch(folder / "rows.parquet", key="id", target="y", lg_k=18),
            64,
            1500,
        ),
        ("read sketches", lambda: tt.SketchSet.read(folder / "set.parquet"), 64, 900),
        ("write sketches", lambda: made.write(own / "set.parquet"), 64, 900),
        ("save", lambda: model.save(own / "model.json"), 1, 300),
    ]


def address_space() -> int:
    """Bytes of it that this process has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def under(ceiling: int, call) -> int:
    """Run the call in a fork with so many bytes more; return how it ended."""
    child = os.fork()
    if child == 0:
        code = WRONG
        try:
            signal.alarm(SECONDS)
            ctypes.CDLL(None).malloc_trim(0)
            most = address_space() + ceiling
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
            call()
            code = DONE
        except MemoryError:
            code = REFUSED
        except RuntimeError as error:  # Python's own, where there is no room for a stack
            code = REFUSED if "can't start new thread" in str(error) else WRONG
            if code == WRONG:
                traceback.print_exc()
        except BaseException:
            resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def give_back_at_once() -> None:
    """Start anew, so that freed memory goes back to the system and is not what a call lives on."""
    wanted = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "0", "MALLOC_ARENA_MAX": "1"}
    if os.environ.items() >= wanted.items():
        return
    os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | wanted)


def main(steps: str = "8", rows: str = "1000000") -> int:
    give_back_at_once()
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for what, call, least, enough in cases(folder, int(rows)):
            found = {"call": what, "refused": 0, "done": 0}
            heights = np.geomspace(least, max(2 * least, enough * int(rows) / 1e6), int(steps))
            for height in heights:
                ended = under(int(height * MEGABYTE), call)
                if ended in (DONE, REFUSED):
                    found["done" if ended == DONE else "refused"] += 1
                else:
                    failures += 1
                    print(f"{what} with {height:.0f} MB more ended with {ended}", flush=True)
            print(json.dumps(found), flush=True)
        left = [path.name for path in folder.rglob(".*")]
        print(json.dumps({"temporary files left": left}))
    return 1 if failures or left else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
