"""Every export that runs against `predict`, on as many random models and rows as are asked for.

    python prove_exports.py MODELS ROWS [TARGET ...]

Targets: python c java onnx sklearn sqlite duckdb postgres spark; all by default. Models are of every kind;
what a target refuses by its nature (an empty text among the labels or C4.5's tree for ONNX, categories for
scikit-learn) is drawn anew.
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from export import engines, test_c, test_java, test_onnx, test_python, test_sklearn_tree, test_sql
from naive.models import random_model

BATCH = 20  # models compiled together


def models(target: str, count: int, rows: int):
    """Yield so many models that the target can have."""
    seed = 0
    while count:
        seed += 1
        if target == "sklearn":
            case = random_model(seed, rows, kinds=test_sklearn_tree.KINDS, binary_numbers=True)
        else:
            case = random_model(seed, rows)
        fit = test_onnx.without_empty_texts(case) and not case.tree.fractional
        if target == "onnx" and not fit:
            continue
        count -= 1
        yield case


def by_batches(check, target: str, count: int, rows: int) -> int:
    """Compile a batch of models at a time."""
    cases = []
    for done, case in enumerate(models(target, count, rows), 1):
        cases.append(case)
        if len(cases) == BATCH or done == count:
            with tempfile.TemporaryDirectory() as folder:
                check(cases, Path(folder))
            cases = []
    return count


def by_engine(target: str, count: int, rows: int) -> int:
    folder = engines.temporary_folder()
    started = {"sqlite": engines.Sqlite, "duckdb": engines.DuckDB, "spark": engines.Spark}
    engine = started[target]() if target in started else engines.Postgres(folder)
    for case in models(target, count, rows):
        test_sql.check(engine, target, case)
    if hasattr(engine, "close"):
        engine.close()
    shutil.rmtree(folder)
    return count


def one_by_one(check, target: str, count: int, rows: int) -> int:
    """Return how many were compared: what float32 cannot hold, scikit-learn's trees are not made of."""
    return sum(check(case) is not False for case in models(target, count, rows))


def main(count: int, rows: int, targets: list[str]) -> None:
    single = {"python": test_python.check, "onnx": test_onnx.check, "sklearn": test_sklearn_tree.check}
    compiled = {"c": test_c.check, "java": test_java.check}
    for target in targets or [*single, *compiled, "sqlite", "duckdb", "postgres", "spark"]:
        begun = time.perf_counter()
        if target in single:
            done = one_by_one(single[target], target, count, rows)
        elif target in compiled:
            done = by_batches(compiled[target], target, count, rows)
        else:
            done = by_engine(target, count, rows)
        took = time.perf_counter() - begun
        print(
            f"{target}: {done} models x {rows:,} rows agree ({count - done} refused), {took:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
