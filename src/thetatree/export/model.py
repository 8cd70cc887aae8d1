"""What the exports accept: an estimator or its tree."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from thetatree.tree.tree import Tree


def tree_of(model: Any) -> Tree:
    """Return the tree of a fitted estimator, or the tree itself."""
    if isinstance(model, Tree):
        return model
    check_is_fitted(model, "tree_")
    tree = model.tree_
    if not isinstance(tree, Tree):
        raise TypeError(f"expected a thetatree estimator or Tree; got {type(model).__name__}")
    return tree
