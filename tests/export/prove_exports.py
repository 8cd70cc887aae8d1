"""Every export that runs against `predict`, on as many random models and rows as are asked for.

    python prove_exports.py MODELS ROWS [--first SEED] [TARGET ...]

Targets: python c java onnx sklearn sqlite duckdb postgres spark; all by default. Models are of every kind;
what a target refuses by its nature (an empty text among the labels or C4.5's tree for ONNX, categories for
scikit-learn) is drawn anew. Each target says at which seed it stopped: a long proof can be run in parts, each
beginning with `--first` where the one before ended.
"""

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from export import engines, test_c, test_java, test_onnx, test_python, test_sklearn_tree, test_sql
from naive.models import random_model

BATCH = 20  # models compiled together


class Models:
    """So many models that the target can have, from the first seed on; `next_seed` is the one after them."""

    def __init__(self, target: str, count: int, rows: int, first: int) -> None:
        self.target, self.count, self.rows, self.next_seed = target, count, rows, first

    def __iter__(self):
        left = self.count
        while left:
            case = self._drawn(self.next_seed)
            self.next_seed += 1
            if self.target == "onnx" and (case.tree.fractional or not test_onnx.without_empty_texts(case)):
                continue
            left -= 1
            yield case

    def _drawn(self, seed: int):
        if self.target == "sklearn":
            return random_model(seed, self.rows, kinds=test_sklearn_tree.KINDS, binary_numbers=True)
        return random_model(seed, self.rows)


def by_batches(check, models: Models) -> int:
    """Compile a batch of models at a time."""
    cases = []
    for done, case in enumerate(models, 1):
        cases.append(case)
        if len(cases) == BATCH or done == models.count:
            with tempfile.TemporaryDirectory() as folder:
                check(cases, Path(folder))
            cases = []
    return models.count


def by_engine(models: Models) -> int:
    target = models.target
    folder = engines.temporary_folder()
    started = {"sqlite": engines.Sqlite, "duckdb": engines.DuckDB, "spark": engines.Spark}
    engine = started[target]() if target in started else engines.Postgres(folder)
    for case in models:
        test_sql.check(engine, target, case)
    if hasattr(engine, "close"):
        engine.close()
    shutil.rmtree(folder)
    return models.count


def one_by_one(check, models: Models) -> int:
    """Return how many were compared: what float32 cannot hold, scikit-learn's trees are not made of."""
    return sum(check(case) is not False for case in models)


def main(count: int, rows: int, first: int, targets: list[str]) -> None:
    single = {"python": test_python.check, "onnx": test_onnx.check, "sklearn": test_sklearn_tree.check}
    compiled = {"c": test_c.check, "java": test_java.check}
    for target in targets or [*single, *compiled, "sqlite", "duckdb", "postgres", "spark"]:
        begun, models = time.perf_counter(), Models(target, count, rows, first)
        if target in single:
            done = one_by_one(single[target], models)
        elif target in compiled:
            done = by_batches(compiled[target], models)
        else:
            done = by_engine(models)
        took = time.perf_counter() - begun
        print(
            f"{target}: {done} models x {rows:,} rows agree ({count - done} refused), {took:.0f} s; "
            f"seeds {first} to {models.next_seed - 1}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("models", type=int)
    parser.add_argument("rows", type=int)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("targets", nargs="*")
    given = parser.parse_intermixed_args()
    main(given.models, given.rows, given.first, given.targets)
