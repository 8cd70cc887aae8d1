"""How often do the intervals of a tree's counts and rates hold? `python benchmarks/intervals.py [sets]`.

One population of keys; for each of 2,000 sketch sets the keys get new hashes. Four kinds of nodes:

* fixed: the nodes of one tree, whichever the sketches are. Their intervals ought to hold at their level;
* fixed, half the keys: the same tree counted on half of the hashes, as honest leaves are;
* chosen: the nodes of the tree that was grown from the same sketches. It split where the figures looked
  extreme, so its intervals hold less often: they are not adjusted for selection;
* chosen, honest: the tree was grown from one half of the hashes, and the other half fills it.
* without the gate: the last two, grown with significance=None, so that they also chose what is noise.

The truth is counted on all keys. Writes results/intervals.md. Run it by `make intervals`.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
from resolution import MAX_THETA, image

import thetatree as tt
from thetatree.grow.count_tree import count_tree
from thetatree.judge.counts import Counts

SETS, KEYS, K, LEVEL = 2000, 20_000, 512, 0.95
CHOSEN = (
    ("chosen", None, 0.05),
    ("chosen, honest", 0.5, 0.05),
    ("chosen, without the gate", None, None),
    ("chosen, honest, without the gate", 0.5, None),
)
FLAGS = tuple(f"f{j}" for j in range(8))


def population():
    """Give flags of prevalence 5% to 60%, and classes that some of them move."""
    rng = np.random.default_rng(7)
    flags = rng.random((KEYS, len(FLAGS))) < np.linspace(0.05, 0.6, len(FLAGS))
    rate = 0.15 + 0.25 * flags[:, 5] + 0.2 * (flags[:, 6] & flags[:, 2]) + 0.15 * flags[:, 1]
    return pd.DataFrame(flags, columns=list(FLAGS)), rng.random(KEYS) < rate


def sketched(flags, positive, rng):
    """Sketch the population under new hashes."""
    hashes = np.unique(rng.integers(1, MAX_THETA, KEYS + 100, dtype=np.uint64))
    order = rng.permutation(len(hashes))[:KEYS]
    place = np.argsort(order)  # the key of each hash, ascending
    hashes = hashes[np.sort(order)]
    own = flags.to_numpy()[place]
    data = {}
    for label, mask in ((0, ~positive[place]), (1, positive[place])):
        data[label] = {"total": image(hashes[mask], K)}
        data[label] |= {name: image(hashes[mask & own[:, j]], K) for j, name in enumerate(FLAGS)}
    return tt.SketchSet.from_sketches(data)


def truth(tree, flags, positive):
    """Count every node on all keys."""
    leaves = tree.apply(flags)
    tally = np.zeros((tree.node_count, 2))
    np.add.at(tally, (leaves, positive.astype(int)), 1)
    running = np.concatenate([np.zeros((1, 2)), np.cumsum(tally, axis=0)])
    return running[tree.subtree_end] - running[:-1]


class Coverage:
    """Hits and trials by what was judged and how many keys were held."""

    def __init__(self):
        self.cells = defaultdict(lambda: [0, 0])

    def add(self, kind, tree, estimates, true, *, counts):
        """Judge every node but the root."""
        held = np.asarray(estimates.held)
        size = np.where(held < 30, "under 30", np.where(held < 200, "30 to 199", "200 and more"))
        rates = Counts(
            tree.values,
            estimates.count.sum(axis=1),
            estimates.count,
            held,
            estimates.standard_error**2,
            estimates.theta,
            "keys",
        ).rate_interval(np.ones(tree.node_count, dtype=np.int64), LEVEL)
        share = true[:, 1] / np.maximum(true.sum(axis=1), 1)
        slack = 1e-9
        for node in range(1, tree.node_count):
            if counts:
                lower, upper = (bound[node] for bound in estimates.interval(LEVEL))
                for c in (0, 1):
                    self._count(
                        (kind, "count", size[node]), lower[c] - slack <= true[node, c] <= upper[c] + slack
                    )
            if tree.is_leaf[node] and true[node].sum():
                hit = rates[0][node] - slack <= share[node] <= rates[1][node] + slack
                self._count((kind, "leaf rate", size[node]), hit)

    def _count(self, cell, hit):
        for key in (cell, (*cell[:2], "all")):
            self.cells[key][0] += bool(hit)
            self.cells[key][1] += 1

    def share(self, kind, what):
        """Give the share of intervals that held."""
        hits, trials = self.cells[(kind, what, "all")]
        return hits / trials


def simulate(sets, seed=0):
    """Run all four kinds of nodes on so many sketch sets."""
    flags, positive = population()
    fixed = tt.CARTClassifier(max_depth=3, min_samples_leaf=200).fit(flags, positive.astype(int)).tree_
    known = truth(fixed, flags, positive)
    rng = np.random.default_rng(seed)
    coverage = Coverage()
    options = {"max_depth": 4, "n_jobs": 1}
    for _ in range(sets):
        sketches = sketched(flags, positive, rng)
        coverage.add("fixed", fixed, count_tree(fixed, sketches, n_jobs=1), known, counts=True)
        half = count_tree(fixed, sketches.split(0.5)[1], n_jobs=1)
        coverage.add("fixed, half the keys", fixed, half, known, counts=False)
        for kind, honest, gate in CHOSEN:
            model = tt.ThetaSketchDecisionTreeClassifier(honest=honest, significance=gate, **options)
            tree = model.fit(sketches).tree_
            coverage.add(kind, tree, tree.estimates, truth(tree, flags, positive), counts=honest is None)
    return coverage


def main(sets=SETS):
    """Run, print and write the table."""
    began = time.perf_counter()
    coverage = simulate(sets)
    took = time.perf_counter() - began
    lines = [
        f"# Coverage of {LEVEL:.0%} intervals",
        "",
        f"`make intervals`: {sets:,} sketch sets of one population of {KEYS:,} keys, k = {K}, {took:.0f} s. "
        "Counts: every node but the root, each class. Rates: the leaves.",
        "",
        "| nodes | interval of | keys held | intervals | held |",
        "|---|---|---|---:|---:|",
    ]
    for kind in ("fixed", "fixed, half the keys", *(kind for kind, _, _ in CHOSEN)):
        for what in ("count", "leaf rate"):
            for size in ("under 30", "30 to 199", "200 and more", "all"):
                hits, trials = coverage.cells.get((kind, what, size), (0, 0))
                if trials:
                    lines.append(f"| {kind} | {what} | {size} | {trials:,} | {hits / trials:.3f} |")
    print("\n".join(lines))
    if sets == SETS:
        path = Path(__file__).parent / "results" / "intervals.md"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SETS)
