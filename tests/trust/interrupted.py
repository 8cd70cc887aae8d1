"""Long calls that are interrupted: a line of JSON for each, with the seconds from Ctrl-C to its exception.

    python interrupted.py FOLDER [SECONDS]

SECONDS after a call has begun its own process gets SIGINT (0.4 without it). Run in a process of its own, so
that no signal hits anything else.
"""

import itertools
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd

import thetatree as tt

RNG = np.random.default_rng(0)


def numbers(rows: int, columns: int):
    """Noise, so that a tree without limits has as many leaves as it can."""
    return RNG.normal(size=(rows, columns)), RNG.normal(size=rows)


def classes(rows: int):
    return RNG.integers(0, 3, rows)


def categories(rows: int, columns: int, values: int) -> pd.DataFrame:
    drawn = RNG.integers(0, values, (rows, columns)).astype(str)
    return pd.DataFrame({f"c{j}": pd.Categorical(drawn[:, j]) for j in range(columns)})


def median_fit():
    X, y = numbers(300_000, 4)
    return tt.CARTRegressor(criterion="absolute_error").fit, (X, y)


def median_fit_of_one_thread():
    X, y = numbers(300_000, 4)
    return tt.CARTRegressor(criterion="absolute_error", n_jobs=1).fit, (X, y)


def cart_fit_of_every_partition():
    return tt.CARTClassifier(max_categories=24).fit, (categories(20_000, 30, 24), classes(20_000))


def c45_fit():
    X, _ = numbers(300_000, 12)
    return tt.C45Classifier().fit, (X, classes(300_000))


def fit_from_sketches():
    rows = categories(20_000, 8, 18).assign(id=range(20_000), y=classes(20_000))
    made = tt.sketch(rows, key="id", target="y")
    return tt.ThetaSketchDecisionTreeClassifier(max_categories=18).fit, (made,)


def prediction():
    X, y = numbers(50_000, 2)
    model = tt.CARTRegressor(n_jobs=1).fit(X, y)
    return model.predict, (np.tile(X, (150, 1)),)


def build_into(path: Path):
    rows = pd.DataFrame(RNG.random((100_000, 50)) < 0.3, columns=[f"f{j}" for j in range(50)])

    def batches():
        for batch in itertools.count():
            yield rows.assign(id=np.arange(100_000) + 100_000 * batch)

    def build():
        tt.sketch(batches, key="id").write(path)

    return build, ()


def interrupt_after(seconds: float, sent: list[float]) -> None:
    time.sleep(seconds)
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)


def interrupted(call, arguments, after: float) -> float | None:
    """Seconds from the signal to the exception; None if the call was done before."""
    sent: list[float] = []
    other = threading.Thread(target=interrupt_after, args=(after, sent))
    try:
        other.start()
        call(*arguments)
        other.join()
        return None
    except KeyboardInterrupt:
        took = time.perf_counter() - sent[0]
        other.join()
        return took


def main(folder: str, after: str = "0.4") -> None:
    X, y = numbers(2000, 2)
    small = tt.CARTRegressor(max_depth=3).fit(X, y)
    before = small.predict(X)
    cases = {case.__name__: case for case in CASES} | {
        "build": lambda: build_into(Path(folder) / "set.parquet")
    }
    for name, case in cases.items():
        took = interrupted(*case(), float(after))
        same = np.array_equal(tt.CARTRegressor(max_depth=3).fit(X, y).predict(X), before)
        print(json.dumps({"call": name, "seconds": took, "usable": same}), flush=True)
    took = interrupted(small.fit, numbers(1_000_000, 8), float(after))
    same = np.array_equal(small.predict(X), before)  # the fit that was stopped left the model as it was
    print(json.dumps({"call": "second fit", "seconds": took, "usable": same}), flush=True)


CASES = [
    median_fit,
    median_fit_of_one_thread,
    cart_fit_of_every_partition,
    c45_fit,
    fit_from_sketches,
    prediction,
]

if __name__ == "__main__":
    main(*sys.argv[1:])
