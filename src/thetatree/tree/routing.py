"""Rows find their leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from thetatree.data.coding import refuse_infinite_entries, routing_arrays
from thetatree.data.rows import Rows
from thetatree.data.threads import n_threads

if TYPE_CHECKING:
    from thetatree.tree.tree import Tree


def route_rows(tree: Tree, rows: Rows, n_jobs: int | None) -> NDArray[np.int64]:
    """Return the leaf of each row."""
    if rows.n_columns != tree.n_features:
        raise ValueError(
            f"X has {rows.n_columns} features, but the tree is expecting {tree.n_features} features"
        )
    threads = n_threads(n_jobs)
    sparse = rows.sparse
    if sparse is None:
        return tree.router.rows(rows.n_rows, routing_arrays(rows, tree.features, threads), threads)
    if any(f.kind != "number" for f in tree.features):
        raise ValueError(
            "a sparse matrix holds numbers, but the tree was fitted on flags or categories as well"
        )
    refuse_infinite_entries(rows)
    return tree.router.sparse(
        sparse.indptr.astype(np.int64), sparse.indices.astype(np.int32), sparse.data, threads
    )


def path_matrix(tree: Tree, leaves: NDArray[np.int64]) -> sp.csr_matrix:
    """Return the nodes on the way to each row's leaf, as a sparse indicator matrix."""
    used, which = np.unique(leaves, return_inverse=True)
    paths = [_path(tree, int(leaf)) for leaf in used]
    lengths = np.array([len(path) for path in paths], dtype=np.int64)
    start = np.concatenate([[0], np.cumsum(lengths[which])])
    nodes = np.concatenate([paths[i] for i in which])
    return sp.csr_matrix(
        (np.ones(len(nodes), dtype=np.int64), nodes, start), shape=(len(leaves), tree.node_count)
    )


def _path(tree: Tree, leaf: int) -> NDArray[np.int64]:
    nodes = [leaf]
    while (above := int(tree.parent[nodes[-1]])) >= 0:
        nodes.append(above)
    return np.array(nodes[::-1], dtype=np.int64)
