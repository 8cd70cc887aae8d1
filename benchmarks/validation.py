"""Is cross-validation from sketches to be believed? `python benchmarks/validation.py [--quick]`.

Over thirty data sets: accuracy, AUC and log loss by five folds of the sketches' hashes, beside what the tree
grown from the whole set reaches on fresh rows; and the depth chosen by cross-validation from sketches beside
the one chosen from the rows. The tables also go to benchmarks/results/validation.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import quality
from sklearn import datasets
from sklearn.base import clone
from sklearn.metrics import log_loss, roc_auc_score

import thetatree as tt

RESULTS = Path(__file__).resolve().parent / "results" / "validation.md"
N = 20_000  # rows to learn from, and as many fresh ones
DEPTH = 5
DEPTHS = [1, 2, 3, 4, 5, 6, 8, 10]
LG_K = (8, 10, 12, 14)
FIGURES = ("accuracy", "auc", "log_loss")

Random = np.random.Generator
Make = Callable[[Random, int], tuple[pd.DataFrame, np.ndarray]]


# Data sets: each makes as many rows as are asked for, by one law


def of_flags(name: str) -> Make:
    def make(rng: Random, n: int) -> tuple[pd.DataFrame, np.ndarray]:
        rows = quality.DATA[name](rng, n)
        return pd.DataFrame(rows.flags).add_prefix("f"), rows.y

    return make


def clusters(classes: int, informative: int, noise: float, share: float, seed: int) -> Make:
    """Clusters of numbers, with labels turned over at random; half of the columns are noise."""
    X, y = datasets.make_classification(
        2 * N,
        2 * informative,
        n_informative=informative,
        n_redundant=0,
        n_classes=classes,
        flip_y=noise,
        weights=[share] + [(1 - share) / (classes - 1)] * (classes - 1),
        random_state=seed,
    )

    def make(rng: Random, n: int) -> tuple[pd.DataFrame, np.ndarray]:
        at = rng.permutation(len(X))[:n]
        return pd.DataFrame(X[at]).add_prefix("x"), y[at]

    return make


def mixed(seed: int) -> Make:
    """Flags, numbers and a category with steps, bends and an interaction, for a share of 5 to 50%."""
    law = np.random.default_rng(seed)
    weights, cities = law.normal(scale=1.2, size=10), law.normal(size=8)
    share, bend = law.uniform(0.05, 0.5), law.normal(scale=1.5, size=4)

    def make(rng: Random, n: int) -> tuple[pd.DataFrame, np.ndarray]:
        flags = rng.random((n, 10)) < np.geomspace(0.02, 0.6, 10)
        x, city = rng.normal(size=(n, 4)), rng.integers(0, 8, n)
        score = flags @ weights + np.abs(x) @ bend + cities[city] + 2 * (flags[:, 9] & (x[:, 0] > 0))
        frame = pd.DataFrame(flags).add_prefix("f").join(pd.DataFrame(x).add_prefix("x"))
        frame["city"] = np.array(list("abcdefgh"))[city]
        return frame, quality._logistic(rng, score, share)

    return make


def smoothed(load: Callable[..., Any], width: float, *, halved: bool = False) -> Make:
    """Rows of one of scikit-learn's own sets, drawn again and again with noise of so many deviations."""
    X, y = load(return_X_y=True)
    y = (y > np.median(y)).astype(int) if halved else y

    def make(rng: Random, n: int) -> tuple[pd.DataFrame, np.ndarray]:
        at = rng.integers(0, len(X), n)
        return pd.DataFrame(X[at] + rng.normal(size=(n, X.shape[1])) * width * X.std(axis=0)).add_prefix(
            "x"
        ), y[at]

    return make


# Classes, numbers that tell them apart, share of labels turned over, share of the first class.
CLUSTERS = [
    (2, 4, 0.1, 0.5),
    (2, 4, 0.4, 0.5),
    (2, 8, 0.2, 0.5),
    (2, 8, 0.1, 0.9),
    (2, 12, 0.3, 0.7),
    (2, 6, 0.05, 0.97),
    (3, 6, 0.2, 0.4),
    (3, 10, 0.3, 0.6),
    (4, 8, 0.1, 0.25),
    (5, 10, 0.2, 0.3),
]


def all_data() -> dict[str, Make]:
    out = {name: of_flags(name) for name in quality.DATA}
    for i, (classes, informative, noise, share) in enumerate(CLUSTERS):
        name = f"clusters: {classes} classes, {informative} numbers, {noise:.0%} flipped, first {share:.0%}"
        out[name] = clusters(classes, informative, noise, share, i)
    out |= {f"flags, numbers, a category: law {i}": mixed(i) for i in range(9)}
    out |= {
        "iris, smoothed": smoothed(datasets.load_iris, 0.4),
        "wine, smoothed": smoothed(datasets.load_wine, 0.7),
        "breast cancer, smoothed": smoothed(datasets.load_breast_cancer, 0.8),
        "digits, smoothed": smoothed(datasets.load_digits, 0.3),
        "diabetes halves, smoothed": smoothed(datasets.load_diabetes, 0.3, halved=True),
    }
    return out


# What is measured


def judged(model: Any, X: pd.DataFrame, y: np.ndarray) -> dict[str, float]:
    """What a fitted tree reaches on fresh rows."""
    p = model.predict_proba(X)
    two = p.shape[1] == 2
    auc = roc_auc_score(y, p[:, 1] if two else p, multi_class="ovr")
    accuracy = float((model.classes_[p.argmax(axis=1)] == y).mean())
    return {"accuracy": accuracy, "auc": float(auc), "log_loss": float(log_loss(y, p))}


@dataclass
class Line:
    """One data set at one size of sketch (None: the rows themselves)."""

    data: str
    lg_k: int | None
    found: dict[str, float]  # by cross-validation
    error: dict[str, float]  # its standard errors
    truth: dict[str, float]  # of the tree grown on everything
    folds: dict[str, float]  # of the folds' trees, on average
    depths: dict[str, int]  # chosen, by rule
    reached: dict[int, float]  # true accuracy by depth, of a tree grown on everything


def line_of(data: str, lg_k: int | None, tree: Any, given: tuple[Any, ...], test: Any) -> Line:
    found = tt.judge.cross_validate(clone(tree).set_params(max_depth=DEPTH), *given)
    reached = {depth: clone(tree).set_params(max_depth=depth).fit(*given) for depth in DEPTHS}
    of_folds = pd.DataFrame([judged(model, *test) for model in found.models]).mean()
    searched = tt.judge.search(tree, {"max_depth": DEPTHS}, *given, refit=False)
    return Line(
        data,
        lg_k,
        found.mean.to_dict(),
        found.se.to_dict(),
        judged(reached[DEPTH], *test),
        of_folds.to_dict(),
        {"best": searched.best_params_["max_depth"], "1se": smallest_within(searched)},
        {depth: judged(model, *test)["accuracy"] for depth, model in reached.items()},
    )


def smallest_within(searched: Any) -> int:
    """The depth that rule="1se" takes: the fewest leaves within a standard error of the best."""
    frame, best = searched.frame, searched.frame.loc[searched.best_index_]
    near = frame[frame["mean_accuracy"] >= best["mean_accuracy"] - best["se_accuracy"]]
    return int(
        near.sort_values(["leaves", "mean_accuracy"], ascending=[True, False])["param_max_depth"].iloc[0]
    )


def measure(names: list[str], sizes: tuple[int, ...]) -> Iterator[Line]:
    data = all_data()
    for number, name in enumerate(names):
        rng = np.random.default_rng([number, 5])
        X, y = data[name](rng, 2 * N)
        X, y, test = X[:N], y[:N], (X[N:], y[N:])
        rows = X.assign(key=np.arange(N), target=y)
        yield line_of(name, None, tt.CARTClassifier(min_samples_leaf=20), (X, y), test)
        for lg_k in sizes:
            made = tt.sketch(rows, key="key", target="target", lg_k=lg_k, bins=16)
            yield line_of(name, lg_k, tt.ThetaSketchDecisionTreeClassifier(), (made,), test)
        print(f"{number + 1}/{len(names)} {name}", flush=True)


# Tables


def estimates_table(lines: list[Line]) -> list[str]:
    out = [
        "| from | figure | mean absolute difference | greatest | mean difference | to the folds' own trees "
        "| within 2 standard errors |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for lg_k in sorted({line.lg_k for line in lines}, key=lambda k: k or 99):
        mine = [line for line in lines if line.lg_k == lg_k]
        for figure in FIGURES:
            off = np.array([line.found[figure] - line.truth[figure] for line in mine])
            own = np.array([line.found[figure] - line.folds[figure] for line in mine])
            within = np.mean([abs(o) <= 2 * line.error[figure] for o, line in zip(off, mine, strict=True)])
            cells = [size_name(lg_k), figure.replace("_", " "), f"{np.abs(off).mean():.4f}"]
            cells += [f"{np.abs(off).max():.4f}", f"{off.mean():+.4f}", f"{np.abs(own).mean():.4f}"]
            out.append(f"| {' | '.join(cells)} | {within:.0%} |")
    return out


def depths_table(lines: list[Line]) -> list[str]:
    out = [
        "| from | rule | mean depth | same as from rows | within one | mean distance "
        "| accuracy lost by the choice | accuracy lost at the depth from rows |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    rows = {line.data: line for line in lines if line.lg_k is None}
    for lg_k in sorted({line.lg_k for line in lines}, key=lambda k: k or 99):
        mine = [line for line in lines if line.lg_k == lg_k]
        for rule in ("best", "1se"):
            places = np.array([DEPTHS.index(line.depths[rule]) for line in mine])
            theirs = np.array([DEPTHS.index(rows[line.data].depths[rule]) for line in mine])
            apart = np.abs(places - theirs)
            lost = [max(line.reached.values()) - line.reached[line.depths[rule]] for line in mine]
            at_theirs = [
                max(line.reached.values()) - line.reached[rows[line.data].depths[rule]] for line in mine
            ]
            out.append(
                f"| {size_name(lg_k)} | {rule} | {np.mean([line.depths[rule] for line in mine]):.1f} "
                f"| {np.mean(apart == 0):.0%} | {np.mean(apart <= 1):.0%} | {apart.mean():.2f} "
                f"| {np.mean(lost):.4f} | {np.mean(at_theirs):.4f} |"
            )
    return out


def each_table(lines: list[Line], lg_k: int) -> list[str]:
    out = [
        f"| data | accuracy by cross-validation, lg_k = {lg_k} | on fresh rows | difference "
        "| depth from sketches | from rows |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    rows = {line.data: line for line in lines if line.lg_k is None}
    for line in lines:
        if line.lg_k == lg_k:
            found, truth = line.found["accuracy"], line.truth["accuracy"]
            cells = [line.data, f"{found:.4f} ± {line.error['accuracy']:.4f}", f"{truth:.4f}"]
            cells += [f"{found - truth:+.4f}", str(line.depths["best"]), str(rows[line.data].depths["best"])]
            out.append(f"| {' | '.join(cells)} |")
    return out


def size_name(lg_k: int | None) -> str:
    return "all rows" if lg_k is None else f"lg_k = {lg_k}"


HOW = f"""\
Made by `python benchmarks/validation.py`. {N:,} rows to learn from and {N:,} fresh ones, thirty data
sets; five folds, of the hashes of a sketch set (16 cuts a number) or of the rows. *Difference*: the
cross-validated figure less what the tree grown on everything reaches on the fresh rows. Cross-validated trees
see four fifths of the keys; *to the folds' own trees* leaves that out: the mean absolute difference to what
those five reach on the fresh rows, on average. Depth {DEPTH}; sketch trees with their gate (0.05), trees from
rows with `min_samples_leaf=20`."""

HOW_DEPTH = f"""\
Of {", ".join(map(str, DEPTHS))}, by accuracy. *best*: the greatest; *1se*: the fewest leaves within a
standard error of it. Distance is in steps of that list. *Accuracy lost*: on fresh rows, the best tree of the
list less the chosen one, each grown on everything; and less the one of the depth that the rows chose."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="every sixth data set; nothing is written")
    given = parser.parse_args()
    names = list(all_data())
    lines = list(measure(names[::6] if given.quick else names, (10, 12) if given.quick else LG_K))
    text = ["# Cross-validation from sketches against fresh rows", "", HOW, "", *estimates_table(lines)]
    text += ["", "## The depth chosen", "", HOW_DEPTH, "", *depths_table(lines)]
    text += ["", "## Each data set", "", *each_table(lines, 12)]
    print("\n".join(text))
    if not given.quick:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
