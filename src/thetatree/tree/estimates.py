"""What a tree grown from sketches knows of its counts, with their errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from thetatree.sketch.counts import interval


@dataclass(frozen=True, eq=False)
class Estimates:
    """What a tree grown from sketches knows of its counts, node by node.

    Attributes
    ----------
    count : ndarray of shape (node_count, n_classes)
        Keys of each class, made to add up at every split.
    standard_error : ndarray of shape (node_count, n_classes)
        Of the counts; 0 where they are exact, and where no key is held.
    theta : ndarray of shape (node_count, n_classes)
        The share of the class's keys among which the node's were looked for; 1 finds them all.
    held : ndarray of shape (node_count,)
        Keys that the sketches really hold of the node: the sample that its counts rest on.
    """

    count: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    theta: NDArray[np.float64]
    held: NDArray[np.float64]

    @property
    def node_error(self) -> NDArray[np.float64]:
        """Standard error of each node's size, all classes together."""
        return np.asarray(np.sqrt((self.standard_error**2).sum(axis=1)))

    def interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the lower and upper bound of each count, not adjusted for the splits having been chosen.

        The score interval of a sketch that would be as sure of its count: n of a standard error s are like
        n·τ keys held below τ = n / (n + s²). Where no key is held there may still be some: only an exact
        count has an interval of no width.

        Parameters
        ----------
        level : float, default=0.95
            How often the interval of a given node is to hold the truth.
        """
        variance = self.standard_error**2
        some = self.count > 0
        theta = np.where(some, self.count / np.where(some, self.count + variance, 1.0), self.theta)
        bounds = interval(np.where(some, self.count * theta, 0.0), theta, level)
        beyond = (bounds.upper - bounds.estimate) * np.where(some, 0.0, 1.0)
        spread = np.where(some, 0.0, self.standard_error) * ndtri((1 + level) / 2)
        # Where all that is held of an exact count went one way, what is not held may have gone the other.
        all_of_it = some & (variance == 0) & (self.theta < 1)
        unseen = interval(0.0, np.where(all_of_it, self.theta, 1.0), level).upper
        lower = np.where(all_of_it, np.maximum(self.count - unseen, 0.0), bounds.lower)
        return lower, np.where(some, bounds.upper, np.maximum(beyond, spread))

    @cached_property
    def margin(self) -> NDArray[np.float64]:
        """Half the width of the 95% interval of each node's size: 0 where that is exact, and only there."""
        lower, upper = self.interval()
        width = np.sqrt((((upper - lower) / 2) ** 2).sum(axis=1))
        return np.asarray(np.where(self.node_error > 0, 1.96 * self.node_error, width))
