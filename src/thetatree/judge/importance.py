"""What each feature of a tree is worth: by training, by other keys, by shuffling, by counting.

* ``mdi``: mean decrease in impurity, as `feature_importances_`: of the training keys, so a feature with many
  cuts looks better than it is.
* ``unbiased``: the same on other keys. A split's decrease of gini (of the variance, for numbers) is how far
  what the branches predict goes along with what the keys are, Σ (v_c − v_t)(n'_c − n'_c· p'_t) / n', with
  predictions v from training and counts n', shares p' from the other keys. On the training keys that is the
  decrease of gini itself; for a split that is noise it is 0 on average (Li, Wang, Basu, Kumbier, Yu 2019).
* ``permutation``: how much accuracy (R² for numbers) is lost when a column is shuffled.
* ``splits``: how many splits are on the feature.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from thetatree.data.target import read_weights
from thetatree.judge.leaf_counts import class_codes, judged_tree, leaves_of_rows
from thetatree.learn import params
from thetatree.sketch.sketch_set import SketchSet
from thetatree.tree.held_out import Floats, sums_below
from thetatree.tree.tree import Tree

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("mdi", "unbiased", "permutation", "splits")


def importance(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    kind: str = "mdi",
    sample_weight: Any = None,
    n_repeats: int = 10,
    n_bootstrap: int = 0,
    level: float = 0.95,
    random_state: int = 0,
) -> pd.DataFrame:
    """Return how much each feature matters, named and in column order.

    Parameters
    ----------
    model : estimator or Tree
        A fitted estimator, or for the kinds that refit nothing its tree.
    X : table or SketchSet, optional
        "unbiased" and "permutation": keys that the tree was not grown from; "permutation" needs rows. "mdi"
        and "splits": the training data, needed for the intervals only.
    y : array-like, optional
        Labels or numbers of the rows; a SketchSet knows its classes.
    kind : {"mdi", "unbiased", "permutation", "splits"}, default="mdi"
        What is meant by importance; see the head of `thetatree.judge.importance`.
    sample_weight : array-like, optional
        One weight per row.
    n_repeats : int, default=10
        Shuffles of each column, of which the mean is taken.
    n_bootstrap : int, default=0
        So many resamples of the data give each figure bounds: rows are drawn with replacement; of the hashes
        of a sketch set half are drawn, which varies as much. "mdi" and "splits" refit the model to each, the
        others keep the tree.
    level : float, default=0.95
        How often the bounds are to hold.
    random_state : int, default=0
        Seed of shuffles and resamples.

    Returns
    -------
    DataFrame
        feature, importance; with resamples also error (their standard deviation), lower and upper.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from thetatree import CARTClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = CARTClassifier(max_depth=3).fit(X[::2], y[::2])
    >>> importance(model, X[1::2], y[1::2], kind="unbiased")["importance"].round(2)[2:].tolist()
    [0.36, 0.26]
    >>> importance(model, kind="splits")["importance"].tolist()
    [1, 0, 2, 1]
    """
    import pandas as pd

    params.choice("kind", kind, KINDS)
    n_bootstrap = params.whole("n_bootstrap", n_bootstrap, 0) or 0
    seed = params.whole("random_state", random_state, 0) or 0
    level = params.open_share("level", level)
    if kind in ("mdi", "splits"):
        names, measure = _of_the_tree(model, kind, X, y, sample_weight)
    else:
        names, measure = _of_other_keys(
            model, kind, X, y, sample_weight=sample_weight, n_repeats=n_repeats, seed=seed
        )
    frame = pd.DataFrame({"feature": names, "importance": measure(None)})
    if not n_bootstrap:
        return frame
    drawn = np.array([measure([seed, draw]) for draw in range(n_bootstrap)])
    tail = (1 - level) / 2
    lower, upper = np.quantile(drawn, [tail, 1 - tail], axis=0)
    return frame.assign(error=drawn.std(axis=0, ddof=min(1, n_bootstrap - 1)), lower=lower, upper=upper)


# A measure gives the importances of the data as it is (None), or of a resample by its seed.
Measure = Callable[[list[int] | None], NDArray[Any]]


def _of_the_tree(model: Any, kind: str, X: Any, y: Any, sample_weight: Any) -> tuple[list[str], Measure]:
    def of(tree: Tree) -> NDArray[Any]:
        if kind == "mdi":
            return tree.compute_feature_importances()
        return np.bincount(tree.feature[~tree.is_leaf], minlength=tree.n_features)

    def measure(seed: list[int] | None) -> NDArray[Any]:
        if seed is None:
            return of(judged_tree(model))
        if X is None:
            raise ValueError(
                f"intervals of kind={kind!r} refit the model to resamples: give the training data, as in "
                f"importance(model, X, y, n_bootstrap=100)"
            )
        if isinstance(model, Tree):
            raise TypeError("intervals refit the model to resamples: give the estimator, not its tree")
        return of(_refitted(model, X, y, sample_weight, seed))

    return [feature.name for feature in judged_tree(model).features], measure


def _refitted(model: Any, X: Any, y: Any, sample_weight: Any, seed: list[int]) -> Tree:
    if isinstance(X, SketchSet):
        return judged_tree(clone(model).fit(half_of(X, seed)))
    n = len(np.asarray(y))
    weight = read_weights(sample_weight, n)
    drawn = drawn_rows(n, seed) * (1.0 if weight is None else weight)
    return judged_tree(clone(model).fit(X, y, sample_weight=drawn))


def drawn_rows(n: int, seed: list[int]) -> Floats:
    """Return how often each row is drawn, with replacement."""
    rng = np.random.default_rng(seed)
    return np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64)


def half_of(sketches: SketchSet, seed: list[int]) -> SketchSet:
    """Return half of the keys: without replacement they vary as n of n do with it."""
    return sketches.split(0.5, seed=1_000 * seed[0] + seed[1] + 1)[1]


# Other keys


def _of_other_keys(
    model: Any, kind: str, X: Any, y: Any, *, sample_weight: Any, n_repeats: int, seed: int
) -> tuple[list[str], Measure]:
    tree = judged_tree(model)
    names = [feature.name for feature in tree.features]
    if X is None:
        raise ValueError(f"kind={kind!r} judges by keys that the tree was not grown from: give X and y")
    if isinstance(X, SketchSet):
        if kind == "permutation":
            raise ValueError(
                "kind='permutation' shuffles columns, which sketches do not have: use kind='unbiased' or rows"
            )
        return names, lambda at: unbiased_decrease(tree, _counted(tree, X if at is None else half_of(X, at)))
    if y is None:
        raise ValueError(f"kind={kind!r} needs the y of the rows")
    target = np.asarray(y)
    codes = target.astype(np.float64) if tree.classes is None else class_codes(target, tree.classes)
    weight = read_weights(sample_weight, len(target))
    own = np.ones(len(target)) if weight is None else weight
    if kind == "unbiased":
        leaves = _checked_leaves(model, X, len(target))
        return names, lambda at: unbiased_decrease(
            tree, _tallied(tree, leaves, codes, own if at is None else own * drawn_rows(len(own), at))
        )
    shuffled = _Shuffled(model, X, params.whole("n_repeats", n_repeats, 1) or 1, seed)
    _checked_leaves(model, X, len(target))
    return shuffled.names, lambda at: shuffled.losses(
        tree, codes, own if at is None else own * drawn_rows(len(own), at)
    )


def _checked_leaves(model: Any, X: Any, n: int) -> NDArray[np.int64]:
    leaves = leaves_of_rows(model, X)
    if len(leaves) != n:
        raise ValueError(f"X has {len(leaves)} rows, y has {n}")
    return leaves


def _counted(tree: Tree, sketches: SketchSet) -> Floats:
    from thetatree.grow.count_tree import count_tree

    return count_tree(tree, sketches).count


def _tallied(tree: Tree, leaves: NDArray[np.int64], codes: NDArray[Any], weight: Floats) -> Floats:
    """Weight by class of every node; for numbers the weight and the weighted sum."""
    n = tree.node_count
    if tree.classes is None:
        both = [np.bincount(leaves, w, n) for w in (weight, weight * codes)]
        return sums_below(tree, np.stack(both, axis=1))
    k = len(tree.classes)
    return sums_below(tree, np.bincount(leaves * k + codes, weight, n * k).reshape(n, k))


def unbiased_decrease(tree: Tree, tally: Floats) -> Floats:
    """Return the decrease of gini (of the variance) by feature, with the counts of other keys."""
    total = np.zeros(tree.n_features)
    if tree.node_count == 1:
        return total
    child = np.arange(1, tree.node_count)
    above = tree.parent[1:]
    step = tree.values[child] - tree.values[above]
    if tree.classes is None:
        weight, got = tally[:, 0], tally[:, 1:]
    else:
        weight, got = tally.sum(axis=1), tally
    shares = got / np.where(weight > 0, weight, 1.0)[:, np.newaxis]
    moved = (step * (got[child] - weight[child, np.newaxis] * shares[above])).sum(axis=1)
    np.add.at(total, tree.feature[above], moved / max(weight[0], 1e-300))
    return total


class _Shuffled:
    """The leaves of the rows, and those once a column is shuffled: resamples need no new ones."""

    def __init__(self, model: Any, X: Any, n_repeats: int, seed: int) -> None:
        self._model, self._n_repeats, self._seed = model, n_repeats, seed
        self._table = _as_table(X)
        self._own = leaves_of_rows(model, X)
        named = hasattr(self._table, "columns")
        tree_names = [feature.name for feature in judged_tree(model).features]
        n = self._table.shape[1]
        self.names = (
            [str(name) for name in self._table.columns]
            if named
            else tree_names
            if len(tree_names) == n
            else [f"x{j}" for j in range(n)]
        )
        self._shuffles = [self._leaves_without(j) for j in range(n)]

    def _leaves_without(self, column: int) -> list[NDArray[np.int64]]:
        out = []
        for repeat in range(self._n_repeats):
            rng = np.random.default_rng([self._seed, column, repeat])
            order = rng.permutation(len(self._own))
            table = self._table.copy()
            if hasattr(table, "iloc"):
                table.isetitem(column, table.iloc[order, column].array)
            else:
                table[:, column] = table[order, column]
            out.append(leaves_of_rows(self._model, table))
        return out

    def losses(self, tree: Tree, codes: NDArray[Any], weight: Floats) -> Floats:
        """Give what each column's shuffles lose of the score, on average."""
        whole = _score(tree, self._own, codes, weight)
        return np.array(
            [
                whole - np.mean([_score(tree, leaves, codes, weight) for leaves in of_column])
                for of_column in self._shuffles
            ]
        )


def _as_table(X: Any) -> Any:
    """Give a table whose columns can be replaced: pandas or numpy."""
    import narwhals as nw

    sparse: Any = X
    if sp.issparse(X):
        return sparse.toarray()
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame.to_pandas()
    return np.array(X)


def _score(tree: Tree, leaves: NDArray[np.int64], codes: NDArray[Any], weight: Floats) -> float:
    """Accuracy, or R²."""
    if tree.classes is not None:
        right = tree.values.argmax(axis=1)[leaves] == codes
        return float(np.average(right, weights=weight))
    mean = np.average(codes, weights=weight)
    spread = np.average((codes - mean) ** 2, weights=weight)
    error = np.average((codes - tree.values[leaves, 0]) ** 2, weights=weight)
    return float(1 - error / spread) if spread > 0 else 0.0
