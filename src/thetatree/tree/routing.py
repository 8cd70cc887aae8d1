"""Rows find their leaves: one each, or several where a tree parts a row at a missing value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from thetatree.data.coding import refuse_infinite, refuse_infinite_entries, routing_arrays
from thetatree.data.rows import Rows
from thetatree.data.threads import n_threads

if TYPE_CHECKING:
    from thetatree.tree.tree import Tree


@dataclass(frozen=True)
class Parts:
    """The leaves that rows end in: those of row i are ``leaf[start[i]:start[i + 1]]``, ascending.

    `part` is how much of the row each of them gets; the parts of a row add up to 1.
    """

    start: NDArray[np.int64]
    leaf: NDArray[np.int64]
    part: NDArray[np.float64]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.start) - 1

    def greatest(self) -> NDArray[np.int64]:
        """Return the leaf that gets the greatest part of each row, the first of equals."""
        if len(self.leaf) == self.n_rows:
            return self.leaf
        row = np.repeat(np.arange(self.n_rows), np.diff(self.start))
        order = np.lexsort((self.leaf, -self.part, row))
        return np.asarray(self.leaf[order][self.start[:-1]])

    def mean(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean over each row's leaves of what the nodes have, by the parts."""
        if len(self.leaf) == self.n_rows:
            return np.asarray(values[self.leaf])
        return np.asarray(np.add.reduceat(values[self.leaf] * self.part[:, np.newaxis], self.start[:-1]))


def route_rows(tree: Tree, rows: Rows, n_jobs: int | None) -> NDArray[np.int64]:
    """Return the leaf of each row; of several the one that gets most of it."""
    if tree.fractional:
        return part_rows(tree, rows, n_jobs).greatest()
    threads = n_threads(n_jobs)
    sparse = _sparse(tree, rows)
    if sparse is None:
        arrays = routing_arrays(rows, tree.features, threads)
        leaves, finite = tree.router.rows(rows.n_rows, arrays, threads)
        if not finite:
            _refuse_infinite_matrix(rows, arrays, threads)
        return leaves
    return tree.router.sparse(*sparse, threads)


def part_rows(tree: Tree, rows: Rows, n_jobs: int | None) -> Parts:
    """Return all leaves of each row."""
    if tree.fractional:
        return Parts(*_spread(tree, rows, n_jobs, all_nodes=False))
    leaf = route_rows(tree, rows, n_jobs)
    return Parts(np.arange(len(leaf) + 1), leaf, np.ones(len(leaf)))


def _spread(
    tree: Tree, rows: Rows, n_jobs: int | None, *, all_nodes: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return where each row begins in the other two: the leaves (or all nodes) it reaches, and its parts."""
    threads, weight = n_threads(n_jobs), tree.weighted_n_node_samples
    sparse = _sparse(tree, rows)
    if sparse is None:
        columns = routing_arrays(rows, tree.features, threads)
        _refuse_infinite_matrix(rows, columns, threads)
        return tree.router.spread_rows(weight, rows.n_rows, columns, all_nodes, threads)
    return tree.router.spread_sparse(weight, *sparse, all_nodes, threads)


def _refuse_infinite_matrix(rows: Rows, arrays: list[NDArray[Any]], threads: int) -> None:
    """Refuse infinities in a matrix that is routed as it is; columns are checked as they are made."""
    if rows.matrix is not None and arrays[0] is rows.matrix:
        refuse_infinite(rows.matrix, rows.names, threads)


def _sparse(
    tree: Tree, rows: Rows
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]] | None:
    """Check the columns; return a sparse matrix's arrays, or None if it is not sparse."""
    if rows.n_columns != tree.n_features:
        raise ValueError(
            f"X has {rows.n_columns} features, but the tree is expecting {tree.n_features} features"
        )
    sparse = rows.sparse
    if sparse is None:
        return None
    if any(f.kind != "number" for f in tree.features):
        raise ValueError(
            "a sparse matrix holds numbers, but the tree was fitted on flags or categories as well"
        )
    refuse_infinite_entries(rows)
    return sparse.indptr.astype(np.int64), sparse.indices.astype(np.int32), sparse.data


def path_matrix(tree: Tree, rows: Rows, n_jobs: int | None) -> sp.csr_matrix:
    """Return the nodes that each row passes, wholly or in part, as a sparse indicator matrix."""
    shape = (rows.n_rows, tree.node_count)
    if tree.fractional:
        start, nodes, _ = _spread(tree, rows, n_jobs, all_nodes=True)
        return sp.csr_matrix((np.ones(len(nodes), dtype=np.int64), nodes, start), shape=shape)
    used, which = np.unique(route_rows(tree, rows, n_jobs), return_inverse=True)
    paths = [_path(tree, int(leaf)) for leaf in used]
    lengths = np.array([len(path) for path in paths], dtype=np.int64)
    start = np.concatenate([[0], np.cumsum(lengths[which])])
    nodes = np.concatenate([paths[i] for i in which])
    return sp.csr_matrix((np.ones(len(nodes), dtype=np.int64), nodes, start), shape=shape)


def _path(tree: Tree, leaf: int) -> NDArray[np.int64]:
    nodes = [leaf]
    while (above := int(tree.parent[nodes[-1]])) >= 0:
        nodes.append(above)
    return np.array(nodes[::-1], dtype=np.int64)
