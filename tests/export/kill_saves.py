"""Kill a process at random moments of saving: the file is the old one or the new one, always whole.

    python kill_saves.py COUNT

Each time a child saves two models over the same file in turn, and is killed (SIGKILL) at a moment drawn from
the time that a few saves take; then the file is loaded.
"""

import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import thetatree as tt


def models():
    """Two models whose files differ in size."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 3)), rng.normal(size=3000)
    sizes = ({"max_depth": 4}, {"max_depth": 9})
    return [tt.CARTRegressor(n_jobs=1, **size).fit(X, y) for size in sizes]


def save_for_ever(path: Path, both) -> None:
    while True:
        for model in both:
            model.save(path)


def main(count: int) -> dict[str, int]:
    both = models()
    chance = random.Random(0)
    found = {"old": 0, "new": 0, "left over": 0}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        started = time.perf_counter()
        for model in both:
            model.save(path)
        both_take = time.perf_counter() - started
        for _ in range(count):
            both[0].save(path)
            child = os.fork()
            if child == 0:
                save_for_ever(path, both)
            time.sleep(chance.uniform(0, 2 * both_take))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            tree = tt.load(path).tree_
            assert tree in (both[0].tree_, both[1].tree_)
            found["old" if tree == both[0].tree_ else "new"] += 1
            for other in Path(folder).iterdir():
                if other != path:  # a temporary file of the save that was killed
                    found["left over"] += 1
                    other.unlink()
    print(f"{count} kills: {found}", flush=True)
    return found


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
