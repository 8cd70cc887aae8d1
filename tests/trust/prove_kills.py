"""Kill commands at random moments: the file they write is the old one or the new one, always whole.

    python prove_kills.py COUNT [build merge predict save]

Each time a child builds (or merges, predicts, saves) over the same file in turn, one of two results, and is
killed (SIGKILL) at a moment drawn from the time that a few rounds take. Then the file must be one of the two,
to the byte, and what else lies in the folder must not pass for a result: its name is hidden, and no reader
takes it for a part.
"""

import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import thetatree as tt
from thetatree.cli.app import main as command

ROWS = 20_000


def make_inputs() -> None:
    """Two tables, two models, three sets in the current folder."""
    rng = np.random.default_rng(0)
    for name, seed in (("one", 1), ("two", 2)):
        rows = pd.DataFrame(rng.random((ROWS, 8)) < 0.1 * (1 + seed), columns=list("abcdefgh"))
        rows = rows.assign(id=np.arange(ROWS) + ROWS * seed, y=rng.integers(0, 2, ROWS))
        rows.to_parquet(f"{name}.parquet", index=False)
        X = rows.drop(columns=["id", "y"])
        tt.CARTClassifier(max_depth=3 + 3 * seed, n_jobs=1).fit(X, rows.y).save(f"{name}.json")
        tt.sketch(rows, key="id", target="y", lg_k=10, n_jobs=1).write(f"{name}_set.parquet")


def build(name: str, path: str) -> None:
    assert command(["sketch", f"{name}.parquet", "--key", "id", "--target", "y", "-o", path]) == 0


def merge(name: str, path: str) -> None:
    assert command(["merge", f"{name}_set.parquet", "two_set.parquet", "-o", path]) == 0


def predict(name: str, path: str) -> None:
    assert command(["predict", f"{name}.json", "one.parquet", "-o", path]) == 0


def save(name: str, path: str) -> None:
    tt.load(f"{name}.json").save(path)


WORK = {
    "build": (build, "made.parquet"),
    "merge": (merge, "merged.parquet"),
    "predict": (predict, "predicted.parquet"),
    "save": (save, "model.json"),
}


def in_child(task) -> int:
    """Fork; the child says nothing, and does the task until it is killed or done."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        task()
        code = 0
    finally:
        os._exit(code)


def results(work, path: Path) -> list[bytes]:
    """What the file holds after one and after two."""
    found = []
    for name in ("one", "two"):
        _, status = os.waitpid(in_child(lambda: work(name, str(path))), 0)  # noqa: B023
        assert status == 0
        found.append(path.read_bytes())
    assert found[0] != found[1]
    return found


def kills(what: str, count: int, folder: Path) -> dict[str, int]:
    work, file = WORK[what]
    place = folder / what
    place.mkdir()
    path = place / file
    chance = random.Random(what)
    both = results(work, path)
    started = time.perf_counter()
    results(work, path)
    take = time.perf_counter() - started

    def for_ever() -> None:
        while True:
            for name in ("two", "one"):
                work(name, str(path))

    found = {"old": 0, "new": 0, "left over": 0}
    for _ in range(count):
        path.write_bytes(both[0])
        child = in_child(for_ever)
        time.sleep(chance.uniform(0, 1.5 * take))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        held = path.read_bytes()
        assert held in both, f"{what}: the file is neither the old one nor the new one"
        found["new" if held == both[1] else "old"] += 1
        if what in ("build", "merge"):
            assert tt.SketchSet.read(place) == tt.SketchSet.read(path)
        for other in place.iterdir():
            if other != path:
                assert other.name.startswith("."), other
                found["left over"] += 1
                other.unlink()
    return found


def main(count: str = "1000", *names: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_inputs()
        for what in names or WORK:
            found = kills(what, int(count), Path(folder))
            print(json.dumps({"work": what, "kills": int(count), **found}), flush=True)
        os.chdir("/")


if __name__ == "__main__":
    main(*sys.argv[1:])
