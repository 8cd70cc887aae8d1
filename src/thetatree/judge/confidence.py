"""How sure a node's split is: whether other keys of the same kind would have chosen the same feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from thetatree.data.target import read_weights
from thetatree.judge.importance import drawn_rows, half_of
from thetatree.learn import params
from thetatree.learn.rows import RowLearner
from thetatree.sketch.sketch_set import SketchSet
from thetatree.tree.tree import Tree

if TYPE_CHECKING:
    import pandas as pd


def split_confidence(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    node: int = 0,
    sample_weight: Any = None,
    n_bootstrap: int = 200,
    random_state: int = 0,
) -> pd.DataFrame:
    """Return how often a node's chosen feature beats the others when the keys are drawn again.

    Each feature's best split is found anew in each resample: of rows drawn with replacement; of a sketch set
    half of the hashes, which varies as much. The figure for the runner-up is the confidence that the chosen
    split really is the better one: near 0.5 either would do.

    Parameters
    ----------
    model : estimator
        A fitted estimator of binary splits.
    X : table or SketchSet
        The training data. A set is looked at as a whole, so only the root can be.
    y : array-like, optional
        Labels or numbers of the rows; a SketchSet knows its classes.
    node : int, default=0
        The node.
    sample_weight : array-like, optional
        One weight per row.
    n_bootstrap : int, default=200
        Resamples.
    random_state : int, default=0
        Their seed.

    Returns
    -------
    DataFrame
        One line per feature that can split the node, the chosen one first, then by score: feature, score,
        wins (the share of resamples in which it is the best) and beaten (the share in which the chosen one
        scores more).

    Examples
    --------
    >>> import numpy as np
    >>> from thetatree import CARTClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> y = (X[:, 1] + 0.5 * rng.normal(size=300) > 0).astype(int)
    >>> found = split_confidence(CARTClassifier(max_depth=2).fit(X, y), X, y, n_bootstrap=50)
    >>> found["feature"][0], float(found["beaten"][1])
    ('x1', 1.0)
    """
    import pandas as pd

    n = params.whole("n_bootstrap", n_bootstrap, 1) or 1
    seed = params.whole("random_state", random_state, 0) or 0
    tree: Tree = model.tree_
    if not 0 <= node < tree.node_count or tree.is_leaf[node]:
        raise ValueError(f"node {node!r} has no split: give the number of an inner node")
    if isinstance(X, SketchSet):
        if node:
            raise ValueError(f"a sketch set is looked at as a whole: only node 0 can be judged, not {node}")
        scores = _scores_of_sketches(model, X)
        drawn = [_scores_of_sketches(model, half_of(X, [seed, draw])) for draw in range(n)]
    else:
        scores, drawn = _scores_of_rows(model, X, y, node=node, sample_weight=sample_weight, n=n, seed=seed)
    chosen = tree.features[tree.feature[node]].name
    table = pd.DataFrame(drawn, columns=list(scores)).fillna(-np.inf)
    best = table.to_numpy().argmax(axis=1)
    frame = pd.DataFrame(
        {
            "feature": list(scores),
            "score": list(scores.values()),
            "wins": np.bincount(best, minlength=len(scores)) / n,
            "beaten": [(table[chosen] > table[name]).mean() for name in scores],
        }
    )
    frame.loc[frame["feature"] == chosen, "beaten"] = np.nan
    first = frame["feature"] != chosen
    order = np.lexsort((-frame["score"], first))
    return frame.iloc[order].dropna(subset="score").reset_index(drop=True)


Scores = dict[str, float]


def _scores_of_rows(
    model: Any, X: Any, y: Any, *, node: int, sample_weight: Any, n: int, seed: int
) -> tuple[Scores, list[Scores]]:
    """Each feature's best score among the node's rows, as they are and in each resample."""
    if not isinstance(model, RowLearner):
        raise TypeError(
            f"a {type(model).__name__} grows from sketches: give the SketchSet that it was fitted on"
        )
    if y is None:
        raise ValueError("rows need their y: split_confidence(model, X, y)")
    tree, leaves = model.tree_, model.apply(X)
    weight = read_weights(sample_weight, len(leaves))
    there = np.flatnonzero((leaves >= node) & (leaves < tree.subtree_end[node]))
    inside, target = _safe_indexing(X, there), _safe_indexing(y, there)
    own = np.ones(len(there)) if weight is None else weight[there]
    search = clone(model).set_params(min_impurity_decrease=0.0)

    def scores(weights: Any) -> Scores:
        found = search.root_candidates(inside, target, weights)
        return dict(zip(found["feature"], found["score"].astype(float), strict=True))

    return scores(own), [scores(own * drawn_rows(len(there), [seed, draw])) for draw in range(n)]


def _scores_of_sketches(model: Any, sketches: SketchSet) -> Scores:
    """Each feature's best score at the root, by trees of one feature each."""
    stump = clone(model).set_params(max_depth=1, significance=None, pruning=None, ccp_alpha=0.0, honest=None)
    if "min_held" in stump.get_params():
        stump.set_params(min_held=0)
    scores: Scores = {}
    for feature in sketches.features:
        tree = stump.fit(sketches.select([feature])).tree_
        for one in tree.features:  # the values of a column of lists are features of their own
            scores[one.name] = np.nan
        if not tree.is_leaf[0]:
            scores[tree.features[tree.feature[0]].name] = float(tree.score[0])
    return scores
