"""How good are trees from sketches? `python benchmarks/quality.py [--quick] [--parts trees noise coverage]`.

trees: held-out AUC, log loss and accuracy of trees grown from sketches, beside the exact tree on all rows,
CART on the k rows whose keys have the smallest hashes (what a plain sample of k rows gives), and counting by
chained operations. noise: how often a set without any signal is split. coverage: how often 95% intervals hold
the truth, for given nodes and for chosen ones. The tables also go to benchmarks/results/quality.md.
"""

from __future__ import annotations

import argparse
import struct
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss, roc_auc_score

import thetatree as tt
from thetatree import CARTClassifier
from thetatree import ThetaSketchDecisionTreeClassifier as ThetaTree
from thetatree.sketch.sources import sources_of, tested_features

RESULTS = Path(__file__).resolve().parent / "results" / "quality.md"
MAX_THETA = (1 << 63) - 1
DEPTH = 6
TRAIN, TEST = 100_000, 50_000

Flags = NDArray[np.bool_]
Hashes = NDArray[np.uint64]
Labels = NDArray[np.int64]
Random = np.random.Generator


class Rows(NamedTuple):
    """Flags and classes, a row for each key."""

    flags: Flags
    y: Labels


# Data sets


def _logistic(rng: Random, score: NDArray[np.float64], share: float) -> Labels:
    """Classes by a noisy score; 1 for this share of the rows."""
    noisy = score + rng.logistic(size=len(score))
    return (noisy > np.quantile(noisy, 1 - share)).astype(np.int64)


def tastes(rng: Random, n: int, share: float = 0.3) -> Rows:
    """80 flags, prevalence 1/2 to 1/200, that hang together through eight hidden tastes."""
    law = np.random.default_rng(7)
    prevalence = np.geomspace(0.5, 0.005, 80)
    loads = law.normal(scale=1.2, size=(8, 80)) * (law.random((8, 80)) < 0.3)
    taste = rng.normal(size=(n, 8))
    logit = np.log(prevalence / (1 - prevalence)) + taste @ loads
    flags = rng.random((n, 80)) < 1 / (1 + np.exp(-logit))
    return Rows(flags, _logistic(rng, 2 * taste[:, :3].sum(1), share))


def rare_class(rng: Random, n: int) -> Rows:
    """The same, with one key in a hundred positive."""
    return tastes(rng, n, 0.01)


def rare_flags(rng: Random, n: int) -> Rows:
    """60 independent flags, prevalence 0.1% to 5%; a third of them weigh heavily."""
    flags = rng.random((n, 60)) < np.geomspace(0.001, 0.05, 60)
    weights = np.random.default_rng(3).normal(scale=3, size=60) * (np.arange(60) % 3 == 0)
    return Rows(flags, _logistic(rng, flags @ weights, 0.2))


def interactions(rng: Random, n: int) -> Rows:
    """40 flags in correlated blocks of five; pairs count, not flags."""
    drive = np.repeat(rng.random((n, 8)), 5, axis=1)
    own = rng.random((n, 40))
    flags = np.where(rng.random((n, 40)) < 0.5, drive, own) < np.linspace(0.1, 0.6, 40)
    pairs = [(1, 38), (7, 33), (12, 30), (20, 39), (26, 3)]
    return Rows(flags, _logistic(rng, sum(2.5 * (flags[:, a] & flags[:, b]) for a, b in pairs), 0.4))


def numbers(rng: Random, n: int) -> Rows:
    """Ten numbers cut at eight quantiles each: nested flags x ≤ t."""
    x = rng.normal(size=(n, 10))
    edges = np.array([-1.2, -0.75, -0.4, -0.1, 0.15, 0.45, 0.8, 1.3])
    flags = (x[:, :, None] <= edges).reshape(n, -1)
    score = 1.5 * np.sin(1.5 * x[:, 0]) + x[:, 1] * (x[:, 2] > 0) + (np.abs(x[:, 3]) > 1)
    return Rows(flags, _logistic(rng, 1.5 * score, 0.5))


def three_classes(rng: Random, n: int) -> Rows:
    """60 flags, three classes of 60, 30 and 10%."""
    flags = rng.random((n, 60)) < np.geomspace(0.4, 0.01, 60)
    weights = np.random.default_rng(5).normal(scale=1.3, size=(60, 3))
    scores = flags @ weights + rng.gumbel(size=(n, 3)) + np.log([0.6, 0.3, 0.1])
    return Rows(flags, scores.argmax(axis=1))


DATA: dict[str, Callable[[Random, int], Rows]] = {
    "80 flags, hidden tastes, 30% positive": tastes,
    "the same, 1% positive": rare_class,
    "60 rare flags": rare_flags,
    "40 correlated flags, interactions": interactions,
    "10 numbers at 8 cuts": numbers,
    "60 flags, 3 classes": three_classes,
}


# Sketches


def image(hashes: Hashes, k: int, most: int = MAX_THETA) -> bytes:
    """Serial version 3 of the k smallest hashes, or of those below `most`; they come sorted."""
    theta = min(MAX_THETA if len(hashes) <= k else int(hashes[k]), most)
    held = hashes[: int(np.searchsorted(hashes, np.uint64(theta)))] if theta < MAX_THETA else hashes
    head = struct.pack("<BBBBBBHQQ", 3, 3, 3, 0, 0, 0x1A, 0x93CC, len(held), theta)
    return head + held.tobytes()


def sketched(
    rows: Rows, hashes: Hashes, k: int, *, absent: bool = False, chained: bool = False
) -> tt.SketchSet:
    """Sketch rows per class. `chained`: nothing is known beyond the class total's θ, as along a chain."""
    made: dict[Any, dict[Any, Any]] = {}
    for label in np.unique(rows.y).tolist():
        mine = rows.y == label
        flags, own = rows.flags[mine], hashes[mine]
        most = int(own[k]) if chained and len(own) > k else MAX_THETA
        named: dict[Any, Any] = {"total": image(own, k)}
        for f, flag in enumerate(flags.T):
            here = image(own[flag], k, most)
            named[f"f{f:02}", "1"] = (here, image(own[~flag], k, most)) if absent else here
        made[label] = named
    kinds = {f"f{f:02}": "flag" for f in range(rows.flags.shape[1])}
    return tt.SketchSet.from_sketches(made, kinds=kinds)


def drawn_hashes(rng: Random, n: int) -> Hashes:
    return np.sort(rng.integers(1, MAX_THETA, n, np.uint64))


# Trees


def judged(model: Any, test: Rows) -> tuple[float, float, float]:
    """Give AUC, log loss and accuracy."""
    shares = model.predict_proba(test.flags)
    labels = list(model.classes_)
    if len(labels) == 2:
        auc = roc_auc_score(test.y, shares[:, 1])
    else:
        auc = roc_auc_score(test.y, shares, multi_class="ovr", labels=labels)
    never_0 = np.clip(shares, 1e-4, 1)
    loss = log_loss(test.y, never_0 / never_0.sum(axis=1, keepdims=True), labels=labels)
    return float(auc), float(loss), float(np.mean(model.predict(test.flags) == test.y))


def grown(train: Rows, hashes: Hashes, k: int) -> Iterator[tuple[str, Any]]:
    """Grow each of the trees that are compared; the rows come in the order of their hashes."""
    present = sketched(train, hashes, k)
    yield "sketches", ThetaTree(max_depth=DEPTH).fit(present)
    yield "no gate", ThetaTree(max_depth=DEPTH, significance=None).fit(present)
    yield "with absent", ThetaTree(max_depth=DEPTH).fit(sketched(train, hashes, k, absent=True))
    yield "chained", ThetaTree(max_depth=DEPTH).fit(sketched(train, hashes, k, chained=True))
    least = Rows(train.flags[:k], train.y[:k])
    yield "k rows", CARTClassifier(max_depth=DEPTH, min_samples_leaf=10).fit(*least)


def trees(repeat: int, n: int, sizes: tuple[int, ...]) -> list[str]:
    """Give the table of held-out quality."""
    columns = ["sketches", "no gate", "with absent", "chained", "k rows", "all rows"]
    lines = [
        "| data | lg_k | figure | " + " | ".join(columns) + " | sketches − k rows |",
        "|---|--:|---|" + "--:|" * 7,
    ]
    for name, make in DATA.items():
        began = time.perf_counter()
        found: dict[tuple[int, str], list[tuple[float, float, float]]] = defaultdict(list)
        for turn in range(repeat):
            rng = np.random.default_rng([turn, 1])
            train, test = make(rng, n), make(rng, TEST)
            hashes = drawn_hashes(rng, n)
            whole = judged(CARTClassifier(max_depth=DEPTH, min_samples_leaf=10).fit(*train), test)
            for lg_k in sizes:
                found[lg_k, "all rows"].append(whole)
                for what, model in grown(train, hashes, 1 << lg_k):
                    found[lg_k, what].append(judged(model, test))
        for lg_k in sizes:
            for i, figure in enumerate(("AUC", "log loss", "accuracy")):
                values = {what: np.array([run[i] for run in found[lg_k, what]]) for what in columns}
                difference = values["sketches"] - values["k rows"]
                error = difference.std(ddof=1) / np.sqrt(repeat) if repeat > 1 else np.nan
                shown = " | ".join(f"{values[what].mean():.4f}" for what in columns)
                beside = f"{difference.mean():+.4f} ± {2 * error:.4f}"
                lines.append(f"| {name} | {lg_k} | {figure} | {shown} | {beside} |")
        print(f"trees: {name}, {time.perf_counter() - began:.0f} s", flush=True)
    return lines


# Noise


def noise(trials: int) -> list[str]:
    """Give how often nothing is found in nothing."""
    lines = ["| criterion | classes | flags | k | sets | split at the root |", "|---|--:|--:|--:|--:|--:|"]
    cases = [
        ("gini", 2, 20, 256),
        ("gini", 2, 200, 1024),
        ("entropy", 2, 20, 256),
        ("gini", 4, 20, 256),
        ("entropy", 4, 20, 256),
        ("chi_square", 2, 20, 256),
        ("binomial", 2, 20, 256),
        ("gain_ratio", 3, 20, 256),
    ]
    for criterion, n_classes, n_flags, k in cases:
        split = 0
        for trial in range(trials):
            rng = np.random.default_rng([trial, n_classes, n_flags])
            flags = rng.random((8000, n_flags)) < rng.uniform(0.02, 0.6, n_flags)
            shares = rng.dirichlet(np.full(n_classes, 5.0))
            rows = Rows(flags, rng.choice(n_classes, 8000, p=shares))
            made = sketched(rows, drawn_hashes(rng, 8000), k)
            split += ThetaTree(criterion=criterion, max_depth=1).fit(made).get_n_leaves() > 1
        lines.append(f"| {criterion} | {n_classes} | {n_flags} | {k} | {trials} | {split / trials:.1%} |")
        print(lines[-1], flush=True)
    return lines


# Coverage

Count = tuple[float, float, float]  # lower, upper, truth


def _held(found: list[Count]) -> str:
    below = np.array([[lower <= truth <= upper, upper - lower] for lower, upper, truth in found])
    return f"{below[:, 0].mean():.3f} | {len(found):,}"


def fixed_nodes(rng: Random, rows: Rows, made: tt.SketchSet) -> Iterator[tuple[int, Count]]:
    """A node of each depth that has nothing to do with its counts: bounds by the score interval."""
    from thetatree.sketch.counts import interval

    sources = sources_of(made.data, tested_features(made.data))
    for depth in (1, 2, 3):
        node = {int(f): bool(rng.random() < 0.5) for f in rng.permutation(rows.flags.shape[1])[:depth]}
        allowed = {f: [int(present), int(not present), 1] for f, present in node.items()}
        for klass, label in enumerate(sources.labels):
            keep = rows.y == label
            for f, present in node.items():
                keep &= rows.flags[:, f] == present
            hashes, tau = sources.resolve(klass, allowed)
            bounds = interval(len(hashes), tau)
            yield depth, (float(bounds.lower), float(bounds.upper), float(keep.sum()))


def tree_counts(tree: tt.Tree, rows: Rows) -> Iterator[tuple[int, Count]]:
    """Each node's counts beside the rows', by depth."""
    lower, upper = tree.estimates.interval()
    leaf = tree.apply(rows.flags)
    truth = np.zeros((tree.node_count, len(tree.classes)))
    np.add.at(truth, (leaf, rows.y), 1)
    for node in range(tree.node_count - 1, 0, -1):
        truth[tree.parent[node]] += truth[node]
    for node in range(1, tree.node_count):
        for klass in range(len(tree.classes)):
            yield int(tree.depth[node]), (lower[node, klass], upper[node, klass], truth[node, klass])


def coverage(trials: int) -> list[str]:
    """Give how often the intervals hold the truth."""
    found: dict[tuple[str, int], list[Count]] = defaultdict(list)
    for trial in range(trials):
        rng = np.random.default_rng([trial, 99])
        n = int(rng.choice([3000, 10_000, 30_000]))
        flags = rng.random((n, 12)) < rng.uniform(0.005, 0.6, 12)
        rows = Rows(flags, _logistic(rng, flags[:, :4] @ rng.normal(size=4), float(rng.uniform(0.05, 0.5))))
        k = int(rng.choice([128, 512, 2048]))
        made = sketched(rows, drawn_hashes(rng, n), k)
        for depth, count in fixed_nodes(rng, rows, made):
            found["given nodes, not conserved", depth].append(count)
        only = int(rng.integers(12))
        tree = ThetaTree(max_depth=1, significance=None, min_held=0).fit(made.select([f"f{only:02}"])).tree_
        for depth, count in tree_counts(tree, Rows(rows.flags[:, [only]], rows.y)):
            found["given split, conserved", depth].append(count)
        chosen = ThetaTree(max_depth=3).fit(made).tree_
        for depth, count in tree_counts(chosen, rows):
            found["chosen splits", depth].append(count)
    lines = ["| intervals of | depth | hold the truth | counts |", "|---|--:|--:|--:|"]
    lines += [f"| {what} | {depth} | {_held(counts)} |" for (what, depth), counts in sorted(found.items())]
    print("\n".join(lines), flush=True)
    return lines


HOW = f"""\
Made by `python benchmarks/quality.py`. {TRAIN:,} keys to learn from, {TEST:,} others to judge by,
depth {DEPTH}, present sketches for each class. Each figure is the mean over new rows and new
hashes; the last column's ± is two standard errors of the difference. *sketches*: as it comes (gate
at 0.05, ten held keys). *no gate*: `significance=None`. *with absent*: an absent sketch beside each
present one, so twice the bytes. *chained*: nothing is known beyond the class total's θ, which is
what chaining set operations from the total gives. *k rows*: CART on the 2^lg_k rows of least hash.
*all rows*: the exact tree."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few repeats; nothing is written")
    parser.add_argument("--parts", nargs="+", choices=("trees", "noise", "coverage"), default=None)
    given = parser.parse_args()
    parts = given.parts or ["trees", "noise", "coverage"]
    text = ["# Trees from sketches: how good, how cautious, how honest", "", HOW]
    if "trees" in parts:
        sizes = (10, 12) if given.quick else (10, 12, 14, 16)
        text += ["", "## Held-out quality", "", *trees(2 if given.quick else 6, TRAIN, sizes)]
    if "noise" in parts:
        text += ["", "## Sets without any signal", "", *noise(40 if given.quick else 500)]
    if "coverage" in parts:
        text += ["", "## 95% intervals", "", *coverage(50 if given.quick else 2000)]
    print("\n".join(text))
    if not given.quick and given.parts is None:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
