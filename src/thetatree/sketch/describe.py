"""What a sketch set holds, and what it can not resolve.

A node's keys are seen only as far as the coarsest sketch that decides them. Halving at each level, a class
with m held keys has about m / 2^depth of them in a node at that depth; below some 200 held keys counts become
rough.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from thetatree.sketch.counts import estimate, interval, lg_k_for
from thetatree.sketch.data import ALL, NONE, SketchData

ENOUGH = 200
DEPTHS = (1, 2, 4)


def describe(data: SketchData) -> str:
    """Give a short text about a set."""
    kinds = Counter(feature.kind for feature in data.features)
    shown = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "none"
    lines = [
        f"sketch set, {data.form.replace('_', '-')}: {len(data.entries)} sketches, "
        f"{len(data.column.hashes):,} held keys, "
        f"{8 * len(data.column.hashes) / 1e6:.1f} MB",
        f"key: {data.origin.key or 'not named'}; target: {data.origin.target or 'not named'}; "
        f"lg_k: {'not declared' if data.origin.lg_k is None else data.origin.lg_k}; seed: {data.origin.seed}",
        f"features: {shown}",
    ]
    if data.form != "per_class":
        lines.append(_class_line(data, ALL))
    lines += [_class_line(data, klass) for klass in range(len(data.classes))]
    lines += [line for klass in range(len(data.classes)) for line in _limits(data, klass)]
    return "\n".join(lines)


def _class_line(data: SketchData, klass: int) -> str:
    i = data.entries.total(klass)
    count = estimate(data, i)
    name = "all keys" if klass == ALL else f"class {data.classes[klass]!r}"
    if data.entries.n[i] >= 0:
        return f"{name}: {count:,.0f} keys, {data.column.held[i]:,} held"
    bounds = interval(data.column.held[i], data.column.theta[i])
    margin = float(bounds.upper - bounds.lower) / 2
    held, theta = data.column.held[i], data.column.theta[i]
    return f"{name}: {count:,.0f} ± {margin:,.0f} keys, {held:,} held, θ = {theta:.3g}"


def deciding_theta(data: SketchData, klass: int) -> float:
    """Give the median θ at which a class's keys are seen through one feature."""
    own = float(data.column.theta[data.entries.total(klass)])
    if data.form == "per_class":
        return own
    present = [i for i, key in enumerate(data.entries.keys) if key.klass == ALL and key.value != NONE]
    seen = np.minimum(data.column.theta[present], own) if present else np.array([own])
    return float(np.median(seen))


def _limits(data: SketchData, klass: int) -> list[str]:
    total = data.entries.total(klass)
    theta = deciding_theta(data, klass)
    count = estimate(data, total)
    if theta >= 1:
        return []
    held = {depth: count * theta / 2**depth for depth in DEPTHS}
    short = [depth for depth in DEPTHS if held[depth] < ENOUGH]
    if not short:
        return []
    depth = short[0]
    line = (
        f"! class {data.classes[klass]!r}: about {held[depth]:,.0f} held keys in a node at depth {depth}; "
        f"below {ENOUGH} "
        "its counts are rough"
    )
    if count / 2**depth < ENOUGH:
        return [f"{line}, and it has too few keys for more"]
    lg_k = data.origin.lg_k
    remedy = "a larger lg_k" if lg_k is None else f"lg_k = {lg_k_for(held[depth], ENOUGH, lg_k)}"
    if data.form != "per_class":
        remedy += ", or sketches per class,"
    return [f"{line}; {remedy} would help"]
