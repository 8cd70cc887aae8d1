"""How exact are counts from sketches? `python benchmarks/resolution.py [--quick] [--nodes 60] [--repeat 4]`.

Random nodes of depth 1 to 4 are counted twice from the same sketches: by chained operations of the
datasketches package, from the class total on, one literal after the other; and by the resolution rule. Every
repeat draws new hashes. Relative errors are against the rows; a table goes to the terminal and to
benchmarks/results/resolution.md.

present: a sketch for each value. both: one for the keys without it, too.
"""

from __future__ import annotations

import argparse
import struct
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasketches
import numpy as np
import numpy.typing as npt

import thetatree as tt
from thetatree.sketch.sources import sources_of, tested_features

RESULTS = Path(__file__).resolve().parent / "results" / "resolution.md"
DEPTHS = (1, 2, 3, 4)
MAX_THETA = (1 << 63) - 1

Flags = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]
Random = np.random.Generator
Literal = tuple[int, bool]  # a feature, and whether it is present


@dataclass(frozen=True)
class Size:
    """How large a run is."""

    keys: int
    features: int
    k: int


@dataclass(frozen=True)
class Scenario:
    """Rows of one shape. `positive` is the share of the class "p"; `judged` the class whose nodes count."""

    name: str
    flags: Callable[[Random, Size], Flags]
    form: str = "per_class"
    judged: str = "p"
    positive: float = 1.0
    least: int = 1000  # keys in a node that is judged


def spread(rng: Random, size: Size) -> Flags:
    """Prevalences from 0.1% to 50%, evenly on the log scale."""
    return _drawn(rng, size, np.geomspace(0.001, 0.5, size.features))


def zipf(rng: Random, size: Size) -> Flags:
    """Prevalences ½, ¼, ⅙, ..."""
    return _drawn(rng, size, 0.5 / np.arange(1, size.features + 1))


def correlated(rng: Random, size: Size) -> Flags:
    """Zipf prevalences; what drives each key is shared by the features of a block of five."""
    drive = rng.random((size.keys, -(-size.features // 5)), np.float32)
    flags = np.empty((size.keys, size.features), bool)
    for f in range(size.features):
        own = rng.random(size.keys, np.float32)
        flags[:, f] = np.where(rng.random(size.keys, np.float32) < 0.6, drive[:, f // 5], own) < 0.5 / (f + 1)
    return flags


def _drawn(rng: Random, size: Size, shares: npt.NDArray[np.float64]) -> Flags:
    flags = np.empty((size.keys, size.features), bool)
    for f, share in enumerate(shares):
        flags[:, f] = rng.random(size.keys, np.float32) < share
    return flags


SCENARIOS = (
    Scenario("prevalence 0.1% to 50%", spread),
    Scenario("Zipf prevalence", zipf),
    Scenario("Zipf, correlated", correlated),
    Scenario("0.1% positive: positives, per class", zipf, positive=0.001, least=20),
    Scenario("0.1% positive: positives, one-vs-all", zipf, "one_vs_all", positive=0.001, least=20),
    Scenario("0.1% positive: the rest, one-vs-all", zipf, "one_vs_all", "rest", positive=0.001),
    Scenario("0.1% positive: positives, class-free", zipf, "class_free", positive=0.001, least=20),
)


def image(hashes: Hashes, k: int) -> bytes:
    """Serial version 3 of the k smallest hashes; they come sorted."""
    exact = len(hashes) <= k
    theta = MAX_THETA if exact else int(hashes[k])
    held = hashes[:k]
    head = struct.pack("<BBBBBBHQQ", 3, 3, 3, 0, 0, 0x1A, 0x93CC, len(held), theta)
    return head + held.tobytes()


@dataclass
class Problem:
    """The rows by ascending hash, and their sketches twice."""

    scenario: Scenario
    flags: Flags
    positive: Flags
    images: dict[Any, dict[str, Any]]

    @property
    def judged(self) -> Flags:
        """Which keys are of the class whose nodes are counted."""
        return self.positive if self.scenario.judged == "p" else ~self.positive

    def truth(self, node: list[Literal]) -> int:
        """Count a node's keys by the rows."""
        keep = self.judged.copy()
        for feature, present in node:
            keep &= self.flags[:, feature] == present
        return int(keep.sum())


def make_problem(rng: Random, scenario: Scenario, size: Size, absent: bool) -> Problem:
    hashes = np.sort(rng.integers(1, MAX_THETA, size.keys, np.uint64))
    flags = scenario.flags(rng, size)
    positive = rng.random(size.keys) < scenario.positive

    def sketched(keys: Flags) -> dict[str, Any]:
        named: dict[str, Any] = {"total": image(hashes[keys], size.k)}
        for f in range(size.features):
            here = image(hashes[flags[:, f] & keys], size.k)
            named[f"f{f:02}"] = (here, image(hashes[~flags[:, f] & keys], size.k)) if absent else here
        return named

    everyone = np.ones(size.keys, bool)
    if scenario.form == "per_class":
        images: dict[Any, dict[str, Any]] = {"p": sketched(positive)}
    elif scenario.form == "one_vs_all":
        images = {None: sketched(everyone), "p": sketched(positive)}
    else:
        images = {None: sketched(everyone), "p": {"total": image(hashes[positive], size.k)}}
    return Problem(scenario, flags, positive, images)


def chained(problem: Problem) -> Callable[[list[Literal]], float]:
    """Count by the package's operations: the class, then each literal."""
    read = datasketches.compact_theta_sketch.deserialize
    own = problem.images["p"]
    if problem.scenario.form == "one_vs_all" and problem.scenario.judged == "rest":
        values = problem.images[None]
        start = datasketches.theta_a_not_b().compute(read(values["total"]), read(own["total"]))
    else:
        start, values = read(own["total"]), problem.images.get(None, own) if len(own) == 1 else own

    def both(a: Any, b: Any) -> Any:
        operation = datasketches.theta_intersection()
        operation.update(a)
        operation.update(b)
        return operation.get_result()

    def count(node: list[Literal]) -> float:
        sketch = start
        for feature, present in node:
            given = values[f"f{feature:02}"]
            here, without = given if isinstance(given, tuple) else (given, None)
            if present:
                sketch = both(sketch, read(here))
            elif without is not None:
                sketch = both(sketch, read(without))
            else:
                sketch = datasketches.theta_a_not_b().compute(sketch, read(here))
        return float(sketch.get_estimate())

    return count


def by_the_rule(problem: Problem) -> Callable[[list[Literal]], float]:
    """Count by the resolution rule."""
    made = tt.SketchSet.from_sketches(problem.images)
    sources = sources_of(made.data, tested_features(made.data))
    klass = sources.labels.index(problem.scenario.judged)

    def count(node: list[Literal]) -> float:
        allowed = {feature: [int(present), int(not present), 1] for feature, present in node}
        hashes, tau = sources.resolve(klass, allowed)
        return len(hashes) / tau

    return count


def nodes(rng: Random, problem: Problem, depth: int, n: int) -> Iterator[tuple[list[Literal], int]]:
    """Random nodes that are not too small."""
    found = 0
    for _ in range(100 * n):
        features = rng.permutation(problem.flags.shape[1])[:depth]
        node = [(int(f), bool(rng.random() < 0.5)) for f in features]
        truth = problem.truth(node)
        if truth >= problem.scenario.least:
            found += 1
            yield node, truth
        if found == n:
            return


def run(scenario: Scenario, size: Size, n_nodes: int, repeat: int, absent: bool) -> list[list[str]]:
    """Give a scenario's rows of the table."""
    errors: dict[tuple[int, str], list[float]] = defaultdict(list)
    for seed in range(repeat):
        rng = np.random.default_rng(seed)
        problem = make_problem(rng, scenario, size, absent)
        counters = {"chained": chained(problem), "ours": by_the_rule(problem)}
        for depth in DEPTHS:
            for node, truth in nodes(rng, problem, depth, n_nodes):
                for name, count in counters.items():
                    errors[depth, name].append(abs(count(node) - truth) / truth)
    table = []
    for depth in DEPTHS:
        figures = []
        for name in ("chained", "ours"):
            found = np.array(errors[depth, name])
            figures += (
                [f"{found.mean():.4f}", f"{np.sqrt((found**2).mean()):.4f}"] if len(found) else ["", ""]
            )
        ratio = np.mean(errors[depth, "chained"]) / max(float(np.mean(errors[depth, "ours"])), 1e-12)
        exact = max(errors[depth, "ours"], default=1) == 0
        shown = "exact" if exact else f"{ratio:.1f}×"
        of = "both" if absent else "present"
        table.append([scenario.name, of, str(depth), str(len(errors[depth, "ours"])), *figures, shown])
    return table


def as_markdown(table: list[list[str]], size: Size) -> str:
    head = ["rows", "sketches", "depth", "nodes"]
    head += ["chained mean", "chained rms", "ours mean", "ours rms", "mean, better by"]
    lines = [
        "# Counts from sketches: relative error by depth",
        "",
        f"{size.keys:,} keys, {size.features} features, k = {size.k}; `python benchmarks/resolution.py`. "
        f"Nodes of at least {SCENARIOS[0].least} keys (positives of a 0.1% class: {SCENARIOS[3].least}).",
        "",
        "| " + " | ".join(head) + " |",
        "|" + "---|" * 2 + "--:|" * (len(head) - 2),
        *("| " + " | ".join(row) + " |" for row in table),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the keys, k = 1024, few nodes")
    parser.add_argument("--nodes", type=int, default=60, help="nodes for each depth and repeat")
    parser.add_argument("--repeat", type=int, default=4, help="times that new hashes are drawn")
    given = parser.parse_args()
    size = Size(200_000, 40, 1024) if given.quick else Size(2_000_000, 40, 4096)
    n_nodes, repeat = (10, 2) if given.quick else (given.nodes, given.repeat)
    table = []
    for scenario in SCENARIOS:
        for absent in (False, True):
            began = time.perf_counter()
            table += run(scenario, size, n_nodes, repeat, absent)
            print(
                f"{scenario.name}, {'both' if absent else 'present'}: {time.perf_counter() - began:.1f} s",
                flush=True,
            )
    text = as_markdown(table, size)
    print(text)
    if not given.quick:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(text)


if __name__ == "__main__":
    main()
