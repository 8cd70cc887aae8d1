"""What changed between two sketch sets, or two trees, beyond what noise does.

Of sets the shares are compared: of each class among all keys, and of each value among the class's keys that
are known for the feature. A share that rests on m held keys is as sure as one of m keys drawn at random:
that is what the sketch leaves out, and the keys being a draw of what might have been. Keys that are held in
both sets are compared with themselves. Of trees the splits are compared along the same path.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr, xlogy
from scipy.stats import chi2

from thetatree.sketch.column import SketchColumn
from thetatree.sketch.data import ALL, NONE, SketchData
from thetatree.sketch.errors import SketchSetError
from thetatree.sketch.sketch_set import SketchSet
from thetatree.tree.rules import condition, conjunction
from thetatree.tree.tree import Tree

Floats = NDArray[np.float64]
_NAMES = ["class", "feature", "value"]
_AT_ONCE = 4096  # lines whose intersections are held in memory together


def compare(before: Any, after: Any, level: float = 0.05) -> pd.DataFrame:
    """Compare two sketch sets, or two trees.

    Parameters
    ----------
    before, after
        Two sketch sets with the same features, or two fitted trees or estimators.
    level
        The level at which a change counts as one, for all lines together (Holm's correction).

    Returns
    -------
    DataFrame
        Of sets, a line for each class and each value: both shares, their difference, z, p and whether it
        ``changed``; the surest first. Of trees, a line for each split of either: its path, the test on each
        side, p (how likely a split so good is by chance, counting the keys that it rests on), and whether it
        is ``kept``, ``moved`` (another cut or set of the same feature), ``changed``, ``gained`` or ``lost``;
        with ``sure``: whether that is beyond noise.

    Examples
    --------
    >>> import pandas as pd
    >>> import thetatree as tt
    >>> from thetatree.judge import compare
    >>> rows = pd.DataFrame({"id": range(4000), "buys": ["ny"[i % 2] for i in range(4000)]})
    >>> day = [tt.sketch(rows.assign(vip=[i % k == 0 for i in range(4000)]), "id", "buys") for k in (5, 7)]
    >>> compare(*day).head(2)[["class", "feature", "before", "after", "changed"]].values.tolist()
    [['n', 'vip', 0.2, 0.143, True], ['y', 'vip', 0.2, 0.143, True]]
    """
    if isinstance(before, SketchSet) and isinstance(after, SketchSet):
        return _compare_sets(before, after, level)
    trees = [getattr(one, "tree_", one) for one in (before, after)]
    if not all(isinstance(one, Tree) for one in trees):
        raise TypeError(
            f"{type(before).__name__} and {type(after).__name__} can not be compared; give two sketch "
            "sets, or two fitted trees"
        )
    return _compare_trees(trees[0], trees[1], level)


def _compare_sets(before: SketchSet, after: SketchSet, level: float) -> pd.DataFrame:
    if (before.form, before.features) != (after.form, after.features):
        odd = sorted(set(before.features) ^ set(after.features)) or [before.form, after.form]
        raise SketchSetError(
            f"only sets of one form with the same features can be compared; they differ in {odd[0]!r}: "
            "select() what both have"
        )
    sides = [_shares(one.data) for one in (before, after)]
    lines = sides[0].lines.merge(sides[1].lines, how="outer", on=_NAMES, suffixes=("_before", "_after"))
    for side in ("before", "after"):  # a value that only one set has is a share of 0 in the other
        known = lines.groupby(_NAMES[:2], dropna=False)[[f"of_{side}", f"outer_{side}"]].transform("max")
        for name in known:
            lines[name] = lines[name].fillna(known[name])
        lines[f"of_{side}"] = lines[f"of_{side}"].fillna(0)
        lines[f"held_{side}"] = lines[f"held_{side}"].fillna(0)
    held, of = lines[["held_before", "held_after"]].to_numpy(), lines[["of_before", "of_after"]].to_numpy()
    share = held / np.maximum(of, 1)
    pooled = held.sum(axis=1) / np.maximum(of.sum(axis=1), 1)
    shared, differing = _shared(lines, sides[0].column, sides[1].column)
    # Of a key in both sets only a change is noise: if all are in both this is McNemar's variance, and if none
    # is, that of two draws.
    drawn = pooled * (1 - pooled) * (of.sum(axis=1) - 2 * shared)
    spread = (drawn + differing) / np.maximum(of.prod(axis=1), 1)
    compared = (of > 0).all(axis=1) & (spread > 0)
    z = np.where(compared, (share[:, 1] - share[:, 0]) / np.sqrt(np.where(compared, spread, 1)), 0.0)
    p = 2 * ndtr(-np.abs(z))
    out = lines[_NAMES].assign(
        before=share[:, 0].round(6),
        after=share[:, 1].round(6),
        difference=(share[:, 1] - share[:, 0]).round(6),
        held_before=of[:, 0].astype(int),
        held_after=of[:, 1].astype(int),
        z=z,
        p=p,
        changed=holm(p) < level,
    )
    # pandas writes what an outer join did not find as NaN.
    out[_NAMES] = out[_NAMES].astype(object).where(out[_NAMES].notna(), None)
    order = np.lexsort((np.arange(len(out)), -np.abs(z)))
    return out.iloc[order].reset_index(drop=True).round({"before": 3, "after": 3, "difference": 3, "z": 2})


class _Shares(NamedTuple):
    """Lines of who has what, of whom that is told (`inner` of `outer`, sketches of the column)."""

    lines: pd.DataFrame
    column: SketchColumn


def _shares(data: SketchData) -> _Shares:
    """For each class and value: the held keys that have it, of those for which that is told."""
    names: list[tuple[Any, Any, Any]] = []
    inner: list[int] = []
    outer: list[int] = []
    column = data.column
    totals = [data.entries.total(klass) for klass in range(len(data.classes))]
    if len(totals) > 1 or (totals and data.form != "per_class"):
        if data.form == "per_class":  # classes are disjoint, and all keys are those of any class
            column = SketchColumn.concatenate([column, column.unite([totals], [0])])
        everybody = len(data.column) if data.form == "per_class" else data.entries.total(ALL)
        names += [(label, None, None) for label in data.classes]
        inner += totals
        outer += [everybody] * len(totals)
    for i, key in enumerate(data.entries.keys):
        row = data.row(i)
        if key.value != NONE and not key.absent:
            names.append((row.label, row.feature, row.value))
            inner.append(i)
            outer.append(data.entries.known(key.klass, key.feature))
    held = column.overlaps(inner, outer)[:, [0, 2]]
    lines = pd.DataFrame(names, columns=_NAMES).assign(
        held=held[:, 0], of=held[:, 1], inner=np.array(inner, float), outer=np.array(outer, float)
    )
    return _Shares(lines, column)


def _shared(lines: pd.DataFrame, before: SketchColumn, after: SketchColumn) -> tuple[Floats, Floats]:
    """Count for each line the held keys in both sets, and those of them that have the value in one only."""
    both = SketchColumn.concatenate([before, after]).with_empty()
    starts = {"before": 0, "after": len(before)}
    at = {
        f"{name}_{side}": lines[f"{name}_{side}"].add(start).fillna(len(both) - 1).to_numpy(np.int64)
        for side, start in starts.items()
        for name in ("inner", "outer")
    }
    shared, differing = np.zeros(len(lines)), np.zeros(len(lines))
    for first in range(0, len(lines), _AT_ONCE):
        some = slice(first, first + _AT_ONCE)
        old, new = at["inner_before"][some], at["inner_after"][some]
        all_old, all_new = at["outer_before"][some], at["outer_after"][some]
        having = SketchColumn.concatenate([both.intersect(old, new), both.intersect(all_old, all_new)])
        crossed = SketchColumn.concatenate([both.intersect(old, all_new), both.intersect(all_old, new)])
        pairs = np.arange(len(old)), np.arange(len(old), 2 * len(old))
        shared[some] = having.overlaps(*pairs)[:, 2]
        have_both, have_old, have_new = crossed.overlaps(*pairs).T
        differing[some] = have_old + have_new - 2 * have_both
    return shared, differing


def holm(p: Floats) -> Floats:
    """Correct p-values for there being several, so that all together keep a level."""
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)) if len(p) else p
    out = np.empty(len(p))
    out[order] = np.minimum(raised, 1.0)
    return out


def _compare_trees(before: Tree, after: Tree, level: float) -> pd.DataFrame:
    found = [_splits(tree) for tree in (before, after)]
    paths = list(dict.fromkeys([*found[0], *found[1]]))
    lines = []
    for path in paths:
        old, new = found[0].get(path), found[1].get(path)
        lines.append(
            {
                "path": conjunction(path) or "all",
                "before": None if old is None else old["test"],
                "after": None if new is None else new["test"],
                "status": _status(old, new),
                "p_before": np.nan if old is None else old["p"],
                "p_after": np.nan if new is None else new["p"],
            }
        )
    columns = ["path", "before", "after", "status", "p_before", "p_after"]
    out = pd.DataFrame(lines, columns=columns)
    # A split that is gone was there for certain if it was beyond noise; one that is new likewise.
    ps = np.fmin(out["p_before"].to_numpy(float), out["p_after"].to_numpy(float))
    out["sure"] = (holm(ps) < level) & (out["status"] != "kept").to_numpy()
    return out


def _status(old: dict[str, Any] | None, new: dict[str, Any] | None) -> str:
    if old is None or new is None:
        return "gained" if old is None else "lost"
    if old["test"] == new["test"]:
        return "kept"
    return "moved" if old["feature"] == new["feature"] else "changed"


def _splits(tree: Tree) -> dict[tuple[str, ...], dict[str, Any]]:
    """Each split by the conditions on the way to it."""
    paths: dict[int, tuple[str, ...]] = {0: ()}
    out: dict[tuple[str, ...], dict[str, Any]] = {}
    for node in range(tree.node_count):
        children = tree.child[tree.child_start[node] : tree.child_start[node + 1]]
        for branch, child in enumerate(children):
            paths[int(child)] = (*paths[node], condition(tree, node, branch))
        if len(children):
            feature = tree.features[tree.feature[node]].name
            test = condition(tree, node, 0)
            out[paths[node]] = {"feature": feature, "test": test, "p": _chance(tree, node, children)}
    return out


def _chance(tree: Tree, node: int, children: NDArray[np.int32]) -> float:
    """How likely a split so good is by chance, not adjusted for its having been chosen."""
    n = tree.weighted_n_node_samples[children]
    if tree.estimates is not None:  # what was not held tells nothing
        n = n * np.minimum(1.0, tree.estimates.held[children] / np.maximum(n, 1e-300))
    if tree.classes is None:
        mean, spread = tree.values[children, 0], tree.impurity[children]
        middle = np.average(mean, weights=n)
        within = float((n * spread).sum() / max(n.sum() - len(children), 1))
        gain = float((n * (mean - middle) ** 2).sum())
        return float(chi2.sf(gain / within, len(children) - 1)) if within > 0 else 0.0
    counts = tree.values[children] * n[:, None]
    whole = counts.sum(axis=0)
    expected = np.outer(n, whole / max(whole.sum(), 1e-300))
    g = 2 * float((xlogy(counts, counts) - xlogy(counts, expected)).sum())
    freedom = (len(children) - 1) * max(int((whole > 0).sum()) - 1, 1)
    return float(chi2.sf(max(g, 0.0), freedom))
