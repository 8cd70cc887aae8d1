"""Random models of every kind with tables to predict on, for what has to agree with `predict`.

The tables have values that training never saw, missing ones in every column, and values right at thresholds;
names and labels are such as break careless quoting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import thetatree as tt
from thetatree.data.features import Feature
from thetatree.tree.tree import SplitKind, Tree

NAMES = [
    "x<y & z", 'say "hi"', "it's", "select", "naïve ☃", "back\\slash", "two\nlines", "*/ ?>", "{brace}",
    "a b", "`tick`",
]  # fmt: skip
TEXTS = [
    "red",
    'dark "red"',
    "it's",
    "",
    "ø 漢",
    "a\\b",
    "new\nline",
    "??/",
    "*/",
    "%s",
    "-- x",
    "NULL",
    "nan",
]
UNSEEN = ["never seen", "Red", "red "]
KINDS = ["classifier", "regressor", "aid", "thaid", "c45", "sketch", "hand", "hand"]


@dataclass(frozen=True)
class Model:
    """A fitted estimator or a tree, a table for it, and what it says of each row.

    `predictions` are class labels or numbers, `shares` those of the classes or None.
    """

    name: str
    model: Any
    table: pd.DataFrame
    leaves: np.ndarray
    predictions: list[Any]
    shares: np.ndarray | None

    @property
    def tree(self) -> Tree:
        return self.model if isinstance(self.model, Tree) else self.model.tree_


def random_model(
    seed: int, rows: int = 300, kinds: tuple[str, ...] = (), binary_numbers: bool = False
) -> Model:
    """A model that is a function of its seed; `binary_numbers` leaves categories out."""
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(kinds or KINDS))
    train = _table(rng, int(rng.integers(30, 400)), categories=not binary_numbers)
    table = _table(rng, rows, like=train)
    model: Any
    if kind == "hand":
        model = _by_hand(rng, train, binary_numbers)
    elif kind == "sketch":
        train = train.assign(
            **{column: train[column].replace("", None) for column in train if train[column].dtype == object}
        )
        model = _from_sketches(rng, train)
    else:
        model = _from_rows(rng, kind, train)
    tree = model if isinstance(model, Tree) else model.tree_
    _at_thresholds(rng, tree, table)
    if tree.fractional:  # the rows that it parts have tests of their own
        table = table[[walk(tree, row) != NONE for row in table.to_dict("records")]].reset_index(drop=True)
        if table.empty:
            return random_model(seed, rows, ("classifier",), binary_numbers)
    leaves = model.apply(table)
    if isinstance(model, Tree):
        labels = None if tree.classes is None else [tree.classes[k] for k in np.argmax(tree.values, axis=1)]
        said = tree.values[leaves, 0].tolist() if labels is None else [labels[leaf] for leaf in leaves]
        shares = None if labels is None else tree.values[leaves]
    else:
        said = model.predict(table).tolist()
        shares = model.predict_proba(table) if hasattr(model, "predict_proba") else None
    return Model(f"{kind}-{seed}", model, table, np.asarray(leaves), said, shares)


NONE = -1  # the leaf of a row without an answer


def walk(tree, row):
    """The leaf of one row, by the tree's definition; NONE where it is parted."""
    node = 0
    while not tree.is_leaf[node]:
        feature = tree.features[tree.feature[node]]
        value, kind = row[feature.name], tree.kind[node]
        known = not pd.isna(value)
        branch = tree.missing_branch[node]
        if feature.kind == "category" and known:
            known = value in feature.labels or feature.unlisted
        listed = slice(tree.category_start[node], tree.category_start[node + 1])
        if known and kind == SplitKind.THRESHOLD:
            branch = 0 if np.isinf(tree.threshold[node]) or value <= tree.threshold[node] else 1
        elif known and kind == SplitKind.PRESENCE:
            branch = 0 if value else 1
        elif known:
            code = feature.labels.index(value) if value in feature.labels else -1
            branches = dict(zip(tree.category[listed].tolist(), tree.category_branch[listed], strict=True))
            branch = branches.get(code, 1 if kind == SplitKind.SUBSET else branch)
        if branch < 0:
            return NONE
        node = tree.child[tree.child_start[node] + branch]
    return int(node)


def as_estimator(model: Any) -> Any:
    """The model, or an estimator around a tree made by hand, which can be saved."""
    if not isinstance(model, Tree):
        return model
    out: Any = tt.CARTRegressor() if model.classes is None else tt.CARTClassifier()
    out.tree_, out.n_outputs_, out.n_features_in_ = model, 1, model.n_features
    out.feature_names_in_ = np.array([f.name for f in model.features], dtype=object)
    if model.classes is not None:
        out.classes_ = np.array(model.classes)
        out.n_classes_ = len(model.classes)
    return out


def _table(rng, n: int, categories: bool = True, like: pd.DataFrame | None = None) -> pd.DataFrame:
    """A table; `like` has the same columns, with values that it never saw."""
    if like is None:
        names = rng.permutation(NAMES)
        kinds = [
            "number",
            "flag",
            *rng.choice(
                ["number", "flag", "text", "code"] if categories else ["number", "flag"], rng.integers(1, 5)
            ),
        ]
        columns = {
            str(name): _column(rng, str(kind), n, None) for name, kind in zip(names, kinds, strict=False)
        }
        return pd.DataFrame(columns)
    columns = {}
    for name in like.columns:
        old = like[name]
        kind = (
            "number"
            if old.dtype == np.float64
            else "code"
            if isinstance(old.dtype, pd.CategoricalDtype)
            else ""
        )
        known = old.dropna().tolist()
        kind = kind or ("flag" if known and isinstance(known[0], bool) else "text")
        columns[name] = _column(rng, kind, n, known)
    return pd.DataFrame(columns)


def _column(rng, kind: str, n: int, known: list[Any] | None) -> Any:
    gap = rng.random(n) < rng.choice([0.0, 0.1, 0.4]) if known is None else rng.random(n) < 0.2
    if kind == "number":
        shape = rng.choice(["wide", "grid", "float32"])
        values = rng.normal(size=n) * 10.0 ** rng.integers(-3, 4)
        values = np.round(values, 1) if shape == "grid" else values
        values = values.astype(np.float32).astype(np.float64) if shape == "float32" else values
        if known:
            values = np.where(rng.random(n) < 0.7, rng.choice(known, n), values)
        return np.where(gap, np.nan, values)
    if kind == "flag":
        flags = np.empty(n, dtype=object)
        flags[:] = [bool(v) for v in rng.random(n) < 0.5]
        flags[gap] = None
        return flags
    if kind == "code":
        codes = rng.integers(-3, 9, n) if known is None else rng.integers(-5, 12, n)
        return pd.Categorical([None if g else int(c) for g, c in zip(gap, codes, strict=True)], dtype=None)
    pool = TEXTS[: rng.integers(2, len(TEXTS) + 1)] if known is None else [*sorted(set(known)), *UNSEEN]
    texts = np.empty(n, dtype=object)
    texts[:] = [None if g else str(t) for g, t in zip(gap, rng.choice(pool, n), strict=True)]
    return texts


def _latent(rng, train: pd.DataFrame) -> np.ndarray:
    out = rng.normal(size=len(train)) * 0.5
    for name in train:
        ranks = pd.factorize(train[name], sort=train[name].dtype == np.float64)[0]
        effect = rng.normal(size=ranks.max() + 2)
        out += np.sort(effect)[ranks] if train[name].dtype == np.float64 else effect[ranks]
    return out


def _labels(rng, latent: np.ndarray) -> np.ndarray:
    pool = [["no", 'ye"s', "may\\be", "ø"], [3, -1, 7, 10**12], [True, False], [0.0, 1.0, 2.0]][
        rng.integers(4)
    ]
    cuts = np.quantile(latent, np.sort(rng.uniform(0.1, 0.9, len(pool) - 1)))
    return np.array(pool)[np.searchsorted(cuts, latent)]


def _from_rows(rng, kind: str, train: pd.DataFrame) -> Any:
    latent = _latent(rng, train)
    weight = rng.uniform(0.2, 3, len(train)) if rng.random() < 0.3 else None
    shared: dict[str, Any] = {"missing": str(rng.choice(["learnt", "majority"])), "n_jobs": 1}
    if kind == "c45":
        subsets, y = bool(rng.random() < 0.3), _labels(rng, latent)
        return tt.C45Classifier(subsets=subsets, n_jobs=1).fit(train, y, weight)
    if kind == "aid":
        return tt.AIDRegressor(min_improvement=0.001, **shared).fit(train, latent, weight)
    shared["max_depth"] = [None, 3, 8][rng.integers(3)]
    if kind == "regressor":
        criterion = str(rng.choice(["squared_error", "absolute_error", "poisson"]))
        return tt.CARTRegressor(criterion=criterion, **shared).fit(train, np.exp(latent), weight)
    y = _labels(rng, latent)
    if kind == "thaid":
        return tt.THAIDClassifier(criterion=str(rng.choice(["theta", "delta"])), **shared).fit(
            train, y, weight
        )
    criterion = str(rng.choice(["gini", "entropy", "gain_ratio", "chi_square"]))
    return tt.CARTClassifier(criterion=criterion, **shared).fit(train, y, weight)


def _from_sketches(rng, train: pd.DataFrame) -> Any:
    y = np.array(["no", 'ye"s', "may\\be"])[
        np.searchsorted(np.quantile(latent := _latent(rng, train), [0.3, 0.7]), latent)
    ]
    codes = [name for name in train if isinstance(train[name].dtype, pd.CategoricalDtype)]
    sketched = train.drop(columns=codes).assign(key=np.arange(len(train)), target=y)
    sketches = tt.sketch(
        sketched, key="key", target="target", bins=8, max_categories=int(rng.integers(3, 20)), n_jobs=1
    )
    return tt.ThetaSketchDecisionTreeClassifier(significance=None, min_held=0, n_jobs=1).fit(sketches)


# ---- trees made by hand: every kind of split, with random branches for missing values


def _by_hand(rng, train: pd.DataFrame, binary_numbers: bool) -> Tree:
    features = tuple(_feature(rng, str(name), train[name]) for name in train)
    classes = None if rng.random() < 0.3 else tuple(sorted(["no", 'ye"s', "may\\be"][: rng.integers(2, 4)]))
    splits, parent = _splits(rng, features, train, int(rng.integers(1, 60)))
    n = len(splits)
    values = rng.normal(size=n) if classes is None else rng.dirichlet(np.ones(len(classes)), size=n).ravel()
    children: list[list[int]] = [[] for _ in range(n)]
    for node in range(1, n):
        children[parent[node]].append(node)
    arrays = {
        "kind": [s["kind"] for s in splits],
        "feature": [s["feature"] for s in splits],
        "threshold": [s["threshold"] for s in splits],
        "missing_branch": [s["missing"] for s in splits],
        "child_start": np.cumsum([0, *map(len, children)]),
        "child": [child for below in children for child in below],
        "category_start": np.cumsum([0, *(len(s["codes"]) for s in splits)]),
        "category": [code for s in splits for code in s["codes"]],
        "category_branch": [branch for s in splits for branch in s["branches"]],
        "impurity": np.ones(n),
        "score": np.full(n, np.nan),
        "impurity_decrease": np.zeros(n),
        "weighted_n_node_samples": np.ones(n),
        "n_node_samples": np.ones(n, dtype=np.int64),
        "value": values,
    }
    criterion = "squared_error" if classes is None else "gini"
    return Tree.from_arrays(arrays, features, classes, criterion)


def _feature(rng, name: str, column: pd.Series) -> Feature:
    known = column.dropna().tolist()
    if column.dtype == np.float64:
        return Feature(name, "number", gaps=True)
    if known and isinstance(known[0], bool):
        return Feature(name, "flag")
    return Feature(
        name, "category", tuple(sorted(set(known))) or ("none",), unlisted=bool(rng.random() < 0.3)
    )


LEAF = {"kind": 0, "feature": -2, "threshold": -2.0, "missing": -1, "codes": [], "branches": []}


def _splits(rng, features, train, most: int) -> tuple[list[dict[str, Any]], list[int]]:
    """Splits in preorder with the parent of each node."""
    splits: list[dict[str, Any]] = []
    parent: list[int] = []
    waiting = [-1]
    while waiting:
        above = waiting.pop()
        node = len(splits)
        parent.append(above)
        if node and (len(splits) + len(waiting) > most or rng.random() < 0.3):
            splits.append(LEAF)
            continue
        split, n_branches = _split(rng, features, train)
        splits.append(split)
        waiting += [node] * n_branches
    return splits, parent


def _split(rng, features, train) -> tuple[dict[str, Any], int]:
    index = int(rng.integers(len(features)))
    feature = features[index]
    split = {**LEAF, "feature": index, "threshold": np.nan, "missing": int(rng.integers(2))}
    if rng.random() < 0.1:
        return {**split, "kind": SplitKind.THRESHOLD, "threshold": np.inf}, 2
    if feature.kind == "number":
        known = train[feature.name].dropna()
        threshold = float(rng.choice(known)) if len(known) else 0.0
        return {**split, "kind": SplitKind.THRESHOLD, "threshold": threshold}, 2
    if feature.kind == "flag":
        return {**split, "kind": SplitKind.PRESENCE, "threshold": 0.5}, 2
    listed = np.flatnonzero(rng.random(len(feature.labels)) < 0.5)
    codes = listed.tolist() or [0]
    if rng.random() < 0.5:
        return {**split, "kind": SplitKind.SUBSET, "codes": codes, "branches": [0] * len(codes)}, 2
    n_branches = int(rng.integers(2, 6))
    branches = rng.integers(0, n_branches, len(codes)).tolist()
    split = {**split, "kind": SplitKind.MULTIWAY, "codes": codes, "branches": branches}
    return {**split, "missing": int(rng.integers(n_branches))}, n_branches


def _at_thresholds(rng, tree: Tree, table: pd.DataFrame) -> None:
    """Put values right at thresholds, and their neighbours above, into the table."""
    for index, feature in enumerate(tree.features):
        cuts = tree.threshold[(tree.feature == index) & (tree.kind == SplitKind.THRESHOLD)]
        cuts = cuts[np.isfinite(cuts)]
        if feature.kind != "number" or not len(cuts):
            continue
        rows = rng.random(len(table)) < 0.3
        values = rng.choice(cuts, int(rows.sum()))
        above = rng.random(len(values)) < 0.5
        table.loc[rows, feature.name] = np.where(above, np.nextafter(values, np.inf), values)
