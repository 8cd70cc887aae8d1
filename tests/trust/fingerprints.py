"""Trees and sketch sets as checksums of their bytes, each made in every way that must not matter.

    python fingerprints.py [ROWS]

Prints one JSON object: by case the ways that were tried and the SHA-256 that all of them gave. Fails where
two ways of one case differ. `prove_identical.py` runs it under several Pythons and instruction sets, and
compares.
"""

import hashlib
import itertools
import json
import random
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import thetatree as tt

RNG = np.random.default_rng(20)
THREADS = (1, 2, 3)


def table(rows: int) -> pd.DataFrame:
    """Every kind of column, with gaps; whole numbers throughout, so that sums are exact in any order."""
    out = pd.DataFrame({f"n{j}": RNG.integers(0, 4000, rows).astype(float) for j in range(4)})
    out["few"] = RNG.integers(0, 9, rows).astype(np.float32)
    for j in range(70):
        out[f"b{j}"] = RNG.random(rows) < 0.02 * (j % 20 + 1)
    for j, n in enumerate((3, 12, 40)):
        out[f"c{j}"] = pd.Categorical.from_codes(RNG.integers(0, n, rows), [f"v{i}" for i in range(n)])
    out.loc[RNG.random(rows) < 0.05, "n1"] = np.nan
    out.loc[RNG.random(rows) < 0.05, "c0"] = None
    return out


def target(rows: pd.DataFrame, n_classes: int) -> np.ndarray:
    signal = rows.n0 // 800 + 2 * rows.b3 + (rows.c1.cat.codes % 3) + RNG.integers(0, 4, len(rows))
    return (signal.to_numpy().astype(int) % (2 * n_classes)) // 2


def saved(model) -> bytes:
    """The model's file, which keeps the parameters: all but the number of threads."""
    model.set_params(n_jobs=None)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.json")
        return (Path(folder) / "model.json").read_bytes()


def written(sketches) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        sketches.write(Path(folder) / "set.parquet")
        return tt.SketchSet.read(Path(folder) / "set.parquet").to_arrow().to_pandas().to_csv().encode()


class Case:
    """One result, and what each way of making it gave."""

    def __init__(self, name: str) -> None:
        self.name, self.ways, self.sums = name, [], set()

    def add(self, way: str, data: bytes) -> None:
        self.ways.append(way)
        self.sums.add(hashlib.sha256(data).hexdigest())
        if len(self.sums) > 1:
            raise AssertionError(f"{self.name}: {way} gives other bytes than {self.ways[0]}")


def learners(n_classes: int):
    """Classifiers by name: a function of the number of threads."""
    for criterion in ("gini", "entropy", "gain_ratio", "chi_square", "theta", "weighted_delta"):
        yield (
            f"CART {criterion}",
            lambda n, c=criterion: tt.CARTClassifier(criterion=c, max_depth=9, n_jobs=n),
        )
    if n_classes == 2:
        yield "CART binomial", lambda n: tt.CARTClassifier(criterion="binomial", max_depth=6, n_jobs=n)
    yield "CART without limits", lambda n: tt.CARTClassifier(n_jobs=n)
    yield "CART best first", lambda n: tt.CARTClassifier(max_leaf_nodes=40, n_jobs=n)
    yield (
        "CART drawn features",
        lambda n: tt.CARTClassifier(max_features=9, random_state=3, max_depth=7, n_jobs=n),
    )
    yield "CART pruned", lambda n: tt.CARTClassifier(ccp_alpha=0.002, n_jobs=n)
    yield "C4.5", lambda n: tt.C45Classifier(n_jobs=n)
    yield "THAID", lambda n: tt.THAIDClassifier(max_depth=6, n_jobs=n)


def regressors():
    for criterion in ("squared_error", "absolute_error", "poisson"):
        yield f"CART {criterion}", lambda n, c=criterion: tt.CARTRegressor(criterion=c, max_depth=7, n_jobs=n)
    yield "AID", lambda n: tt.AIDRegressor(max_depth=6, n_jobs=n)


def trees_from_rows(rows: int) -> list[Case]:
    """By threads, and classifiers by the order of rows, with whole-number weights and without.

    C4.5 parts cases with gaps, and parts are not whole numbers: it gets the columns that have none.
    """
    out = []
    whole = table(rows)
    orders = [RNG.permutation(rows) for _ in range(3)]
    weight = RNG.integers(1, 5, rows).astype(float)
    for n_classes in (2, 5):
        y = target(whole, n_classes)
        for (name, learner), w in itertools.product(learners(n_classes), (None, weight)):
            case = Case(f"{name}, {n_classes} classes" + (", weights" if w is not None else ""))
            X = whole.drop(columns=["n1", "c0"]) if name == "C4.5" else whole
            for n in THREADS:
                case.add(f"{n} threads", saved(learner(n).fit(X, y, w)))
            for number, order in enumerate(orders):
                shuffled = learner(2).fit(X.iloc[order], y[order], None if w is None else w[order])
                case.add(f"row order {number}", saved(shuffled))
            out.append(case)
    y = target(whole, 5) + 1.0
    for name, learner in regressors():
        case = Case(name)
        for n in THREADS:
            case.add(f"{n} threads", saved(learner(n).fit(whole, y)))
        out.append(case)
    return out


def sketches_and_their_trees(rows: int) -> list[Case]:
    """By threads, partitions, order of rows and of merges; then the trees."""
    out = []
    X = table(rows)
    X["y"], X["id"] = target(X, 3), np.arange(rows) * 7
    for form in ("per_class", "class_free"):
        settings = {"key": "id", "target": "y", "form": form, "lg_k": 9}
        whole = tt.sketch(X, n_jobs=1, **settings)
        built, grown = Case(f"sketch set, {form}"), Case(f"tree from sketches, {form}")
        built.add("one pass, 1 thread", written(whole))
        built.add("one pass, 2 threads", written(tt.sketch(X, n_jobs=2, **settings)))
        for number in range(2):
            shuffled = X.sample(frac=1, random_state=number)
            built.add(f"row order {number}", written(tt.sketch(shuffled, like=whole, **settings)))
        for n_parts in (2, 5):
            cuts = np.array_split(RNG.permutation(rows), n_parts)
            parts = [tt.sketch(X.iloc[cut], like=whole, **settings) for cut in cuts]
            for number in range(3):
                order = random.Random(number).sample(parts, n_parts)
                at_once = order[0].merge(*order[1:])
                one_by_one = order[0]
                for part in order[1:]:
                    one_by_one = one_by_one.merge(part)
                built.add(f"{n_parts} parts merged at once, order {number}", written(at_once))
                built.add(f"{n_parts} parts merged one by one, order {number}", written(one_by_one))
        for n in THREADS:
            model = tt.ThetaSketchDecisionTreeClassifier(n_jobs=n, significance=None).fit(whole)
            grown.add(f"{n} threads", saved(model))
        merged = tt.ThetaSketchDecisionTreeClassifier(n_jobs=2, significance=None).fit(at_once)
        grown.add("from merged parts", saved(merged))
        out += [built, grown]
    return out


def main(rows: str = "30000") -> None:
    cases = trees_from_rows(int(rows)) + sketches_and_their_trees(int(rows))
    print(json.dumps({case.name: {"ways": case.ways, "sha256": case.sums.pop()} for case in cases}))


if __name__ == "__main__":
    main(*sys.argv[1:])
