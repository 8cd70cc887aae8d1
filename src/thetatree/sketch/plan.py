"""What to make of each column before its rows are read: kinds, edges, values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

import numpy as np

from thetatree.sketch.batches import Batch, Source, Values
from thetatree.sketch.coders import (
    CategoryCoder,
    Coder,
    FlagCoder,
    ThresholdCoder,
    kind_of_column,
)
from thetatree.sketch.column import Hashes
from thetatree.sketch.data import SketchData
from thetatree.sketch.edges import EdgeSample
from thetatree.sketch.errors import BuildError
from thetatree.sketch.keys import KeyHasher, KeyType
from thetatree.sketch.kinds import Kind, check_kind

Conflicts = Literal["error", "any"]


@dataclass(frozen=True)
class Plan:
    """How rows are to be sketched; see `thetatree.sketch.build.sketch` for what each field means."""

    key: str
    target: str | None
    names: tuple[str, ...]
    kinds: Mapping[str, Kind | None]
    edges: Mapping[str, Sequence[float]]
    like: SketchData | None
    lg_k: int
    bins: int
    seed: int
    class_free: bool
    max_categories: int
    conflicts: Conflicts
    key_type: KeyType | None
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """The columns to read."""
        return [self.key, *([] if self.target is None else [self.target]), *self.names]

    def hasher(self) -> KeyHasher:
        """Hash keys as this plan wants them."""
        return KeyHasher(self.key, self.seed, self.key_type)


@dataclass(frozen=True)
class HashedPlan(Plan):
    """A plan for rows whose key column is of hashes."""

    def hasher(self) -> Any:
        """Take hashes as they are."""
        return TakesHashes()


class TakesHashes:
    """Stands where keys are hashed."""

    seen: str | None = None

    def __call__(self, values: Values) -> Hashes:
        """Give the hashes."""
        return np.ascontiguousarray(values, np.uint64)


def make_plan(
    source: Source,
    features: Sequence[str] | Mapping[str, Kind | None] | None,
    like: SketchData | None,
    edges: Mapping[str, Sequence[float]] | None,
    **settings: Any,
) -> Plan:
    """Settle which columns are features and what is declared about them."""
    key, target = settings["key"], settings["target"]
    edges = dict(edges or {})
    if features is None and like is not None:
        features = [feature.name for feature in like.features]
    if features is None:
        features = [name for name in source.columns() if name not in (key, target)]
    names = tuple(dict.fromkeys(features))
    clash = [name for name in names if name in (key, target)]
    if clash:
        raise BuildError(f"column {clash[0]!r} is the key or the target; leave it out of features=")
    unknown = sorted(set(edges) - set(names))
    if unknown:
        raise BuildError(f"edges are given for {unknown[0]!r}, which is not a feature")
    kinds: dict[str, Kind | None] = dict.fromkeys(names)
    values: dict[str, tuple[str, ...]] = {}
    for described in like.features if like is not None else ():
        if described.name in kinds:
            kinds[described.name] = described.kind
            values[described.name] = described.values
            if described.kind == "threshold":
                edges.setdefault(described.name, described.edges)
    if isinstance(features, Mapping):
        declared = {name: check_kind(name, kind) for name, kind in features.items() if kind is not None}
        kinds.update(declared)
    kinds.update(dict.fromkeys(edges, "threshold"))
    return Plan(names=names, kinds=kinds, edges=edges, like=like, values=values, **settings)


def prepare(source: Source, plan: Plan) -> tuple[dict[str, Coder], Iterator[Batch]]:
    """Make a coder for each feature, with a pass over the rows for edges if any are wanted; give the
    batches.
    """
    batches = source.batches(plan.columns)
    first = next(batches, None)
    kinds = {name: _kind(plan.kinds[name], name, first) for name in plan.names}
    wanting = [name for name, kind in kinds.items() if kind == "threshold" and name not in plan.edges]
    edges = dict(plan.edges)
    if wanting:
        if source.once:
            raise BuildError(
                f"column {wanting[0]!r} needs cut points, and an iterator can be read only once; give "
                f"edges={{...}}, like=another_set, or a function that makes a new iterator"
            )
        batches.close()  # where the rows come from there may be one open result at a time
        edges.update(_sampled_edges(source, plan, wanting))
        batches, first = source.batches(plan.columns), None
    coders = {name: _coder(name, kind, plan, edges) for name, kind in kinds.items()}
    return coders, chain([] if first is None else [first], batches)


def _kind(declared: Kind | None, name: str, first: Batch | None) -> Kind:
    if declared is not None:
        return declared
    if first is None:
        raise BuildError("there are no rows: the data are empty; give like=another_set for an empty part")
    return kind_of_column(first[name], name)


def _coder(name: str, kind: Kind, plan: Plan, edges: Mapping[str, Iterable[float]]) -> Coder:
    if kind == "flag":
        return FlagCoder(name)
    if kind == "threshold":
        return ThresholdCoder(name, list(edges[name]))
    return CategoryCoder(name, kind, plan.values.get(name, ()))


def _sampled_edges(source: Source, plan: Plan, names: list[str]) -> dict[str, list[float]]:
    sample = EdgeSample(names)
    hasher = plan.hasher()
    for batch in source.batches([plan.key, *names]):
        sample.add(hasher(batch[plan.key]), [batch[name] for name in names])
    return {name: [float(edge) for edge in edges] for name, edges in sample.edges(plan.bins).items()}
