"""Counting a tree that stands already on a sketch set: held-out folds, other days, honest leaves.

The counts follow the resolution rule and add up at every split, as when a tree is grown; counted on the set
that it was grown from, a tree has the counts that it was grown with. Where no key is held of any branch, a
class parts as the whole node did in training.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thetatree import _kernel
from thetatree.data.threads import n_threads
from thetatree.sketch.kinds import OTHER
from thetatree.sketch.kinds import Feature as SketchFeature
from thetatree.sketch.sketch_set import SketchSet
from thetatree.sketch.sources import CATEGORY, FLAG, THRESHOLD, Sources, Tested, sources_of, tested_features
from thetatree.tree.estimates import Estimates
from thetatree.tree.tree import EVERY_BRANCH, SplitKind, Tree


def count_tree(
    tree: Tree,
    sketches: SketchSet,
    labels: Sequence[Any] | None = None,
    *,
    use_absent: bool = True,
    n_jobs: int | None = None,
) -> Estimates:
    """Count a tree's nodes on a sketch set, class by class, with the errors of the counts.

    Parameters
    ----------
    tree : Tree
        A classification tree, from sketches or from rows, whose tests the set can decide: it has the features
        that the tree tests, and of numbers the cuts.
    sketches : SketchSet
        The keys to count.
    labels : sequence, optional
        The tree's labels of the set's classes, in the set's order; by default the classes' own, or the tree's
        in order where the tree has labels of its own (0 and 1 for "negative" and "positive").
    use_absent : bool, default=True
        Whether absent sketches take part, where they are the complement of the present ones.
    n_jobs : int, optional
        Threads; the counts do not depend on them.

    Returns
    -------
    Estimates
        Counts, standard errors, θ and held keys of each node, classes in the tree's order.

    Examples
    --------
    >>> import pandas as pd
    >>> from thetatree import CARTClassifier, sketch
    >>> people = pd.DataFrame({"vip": [True, True, False, False, False], "y": [1, 1, 0, 0, 1]})
    >>> tree = CARTClassifier().fit(people[["vip"]], people["y"]).tree_
    >>> others = people.assign(id=range(5), y=[1, 0, 0, 0, 0])
    >>> count_tree(tree, sketch(others, key="id", target="y")).count.tolist()
    [[4.0, 1.0], [1.0, 1.0], [3.0, 0.0]]

    Raises
    ------
    ValueError
        The set lacks a class, a feature, a category or a cut of the tree.
    """
    if tree.classes is None:
        raise ValueError("a regression tree cannot be counted on sketches: they hold classes, not numbers")
    tested = tested_features(sketches.data)
    at = {one.name: place for place, one in enumerate(tested)}
    used = set(tree.feature[~tree.is_leaf].tolist())
    lacking = [tree.features[f].name for f in sorted(used) if tree.features[f].name not in at]
    if lacking:
        raise ValueError(f"the tree tests {lacking[0]!r}, of which the set has no sketch; it has {list(at)}")
    places = {f: at[feature.name] for f, feature in enumerate(tree.features) if feature.name in at}
    kept = tuple(tested[place] for place in places.values())
    sources = sources_of(sketches.data, kept, use_absent=use_absent)
    order = _class_order(tree.classes, sources.labels, labels)
    new_place = {f: new for new, f in enumerate(places)}
    branches = [_branches(tree, node, sources, new_place) for node in range(tree.node_count)]
    column = sketches.data.column
    counts = _kernel.count_tree(
        column.hashes,
        column.offsets,
        column.thetas,
        [sources.classes[c] for c in order],
        [sources.exact_n[c] for c in order],
        sources.cells,
        np.array([new_place.get(int(f), -1) for f in tree.feature], dtype=np.int32),
        tree.child_start,
        tree.child,
        np.cumsum([0, *map(len, branches)], dtype=np.int64),
        np.concatenate(branches).astype(np.int32),
        tree.weighted_n_node_samples,
        n_threads(n_jobs),
    )
    shape = (-1, len(tree.classes))
    return Estimates(
        count=counts["count"].reshape(shape),
        standard_error=np.sqrt(counts["variance"]).reshape(shape),
        theta=counts["theta"].reshape(shape),
        held=counts["held"],
    )


def _class_order(classes: tuple[Any, ...], own: tuple[Any, ...], given: Sequence[Any] | None) -> list[int]:
    """Where each class of the tree stands in the set."""
    named = list(own if given is None else given)
    if given is None and set(named) != set(classes) and len(named) == len(classes) and classes == (0, 1):
        named = [0, 1]  # a tree of "negative" and "positive", or of "rest" and one class
    if len(named) != len(own) or set(named) != set(classes):
        raise ValueError(f"the tree's classes are {list(classes)}, the set's {named}: give labels to match")
    return [named.index(label) for label in classes]


def _branches(tree: Tree, node: int, sources: Sources, place: dict[int, int]) -> NDArray[np.int64]:
    """Which branch of a node each cell of its feature takes; missing is the last cell."""
    kind = SplitKind(int(tree.kind[node]))
    if kind is SplitKind.LEAF:
        return np.empty(0, dtype=np.int64)
    tested = sources.tested[place[int(tree.feature[node])]]
    described = sources.data.features[tested.feature]
    feature = tree.features[tree.feature[node]]
    if kind is SplitKind.THRESHOLD and np.isinf(tree.threshold[node]):
        cells = [0] * (len(tested.values) + 1)
    elif kind is SplitKind.PRESENCE and tested.kind == FLAG:
        cells = [0, 1]
    elif kind is SplitKind.THRESHOLD and tested.kind == FLAG:  # a column of 0 and 1
        cells = [int(value > tree.threshold[node]) for value in (1, 0)]
    elif kind is SplitKind.THRESHOLD and tested.kind == THRESHOLD:
        cells = _cells_by_cut(float(tree.threshold[node]), tested, described)
    elif kind in (SplitKind.SUBSET, SplitKind.MULTIWAY) and tested.kind == CATEGORY:
        has_others = sources.has_unlisted(place[int(tree.feature[node])])
        cells = _cells_by_category(tree, node, described, has_others=has_others)
    else:
        raise ValueError(
            f"the tree tests {feature.name!r} as a {feature.kind}; in the set it is a {described.kind}"
        )
    return np.array([*cells, _missing_branch(tree, node, sources, place)], dtype=np.int64)


def _missing_branch(tree: Tree, node: int, sources: Sources, place: dict[int, int]) -> int:
    """Where missing keys go; a tree that parts them can be counted only where there are none."""
    branch = int(tree.missing_branch[node])
    if branch != EVERY_BRANCH:
        return branch
    at = place[int(tree.feature[node])]
    if any(source["known"][at] >= 0 for source in sources.classes):
        raise ValueError(
            f"keys may be missing in {tree.features[tree.feature[node]].name!r}, and the tree parts what is "
            f"missing among all branches: a key cannot be counted in parts; count tree.undivided()"
        )
    return 0


def _cells_by_cut(threshold: float, tested: Tested, described: SketchFeature) -> list[int]:
    if threshold not in described.edges:
        raise ValueError(
            f"the tree cuts {described.name!r} at {threshold!r}, where the set has no sketch; its cuts are "
            f"{list(described.edges)}: sketch with edges= or like= the set that the tree was grown from"
        )
    cut = described.edges.index(threshold)
    return [int(cell > cut) for cell in range(len(tested.values) + 1)]


def _cells_by_category(tree: Tree, node: int, described: SketchFeature, *, has_others: bool) -> list[int]:
    """Where each value of the set goes, and then what has none of them: both as routing sends values."""
    feature = tree.features[tree.feature[node]]
    listed = slice(tree.category_start[node], tree.category_start[node + 1])
    branch = dict(zip(tree.category[listed].tolist(), tree.category_branch[listed].tolist(), strict=True))
    code = {str(label): i for i, label in enumerate(feature.labels)}
    lacking = [str(feature.labels[c]) for c in branch if str(feature.labels[c]) not in described.values]
    if lacking and not described.complete:
        raise ValueError(
            f"the tree tests {feature.name!r} for {lacking[0]!r}, of which the set has no sketch; "
            f"it has {list(described.values)}"
        )
    missing = int(tree.missing_branch[node])
    unlisted = 1 if SplitKind(int(tree.kind[node])) is SplitKind.SUBSET else missing
    unseen = unlisted if feature.unlisted else missing
    if OTHER in code:
        unseen = branch.get(code[OTHER], unlisted)
    known = [branch.get(code[v], unlisted) if v in code else unseen for v in described.values]
    cells = [*known, unseen if has_others else unlisted]
    if EVERY_BRANCH in known or (has_others and cells[-1] == EVERY_BRANCH):
        raise ValueError(
            f"the set has keys of {described.name!r} whose value the tree does not know, and the tree parts "
            f"such among all branches: a key cannot be counted in parts; count tree.undivided()"
        )
    return [max(0, cell) for cell in cells]  # nothing is in a cell of values that nobody has
