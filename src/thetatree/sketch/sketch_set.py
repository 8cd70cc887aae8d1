"""The sketch set: all sketches of one problem, immutable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from thetatree.sketch import counts as _counts
from thetatree.sketch import describe as _describe
from thetatree.sketch import merge as _merge
from thetatree.sketch import named, read, table
from thetatree.sketch.column import SketchColumn
from thetatree.sketch.data import NONE, Entries, EntryKey, Form, Label, Origin, SketchData
from thetatree.sketch.errors import SketchSetError
from thetatree.sketch.kinds import Feature, Kind, Kinds
from thetatree.sketch.wire import DEFAULT_SEED


class SketchSet:
    """All sketches of one problem: per class a total, and per class, feature and value the keys that have it.

    Make one with `thetatree.sketch`, `SketchSet.read` or `SketchSet.from_sketches`. It never changes: every
    method gives a new one.

    Parameters
    ----------
    data
        The entries and their sketches, checked.

    Examples
    --------
    >>> import datasketches as ds
    >>> def sketched(keys):
    ...     sketch = ds.update_theta_sketch(12)
    ...     for key in keys:
    ...         sketch.update(key)
    ...     return sketch
    >>> parts = SketchSet.from_sketches({
    ...     "positive": {"total": sketched(range(100)), "red": sketched(range(60))},
    ...     "negative": {"total": sketched(range(100, 300)), "red": sketched(range(250, 300))},
    ... })
    >>> parts
    SketchSet(per_class, classes=('negative', 'positive'), features=1, sketches=4, held=410)
    >>> parts.counts()["estimate"].tolist()
    [200.0, 50.0, 100.0, 60.0]
    """

    __slots__ = ("_data",)

    def __init__(self, data: SketchData) -> None:
        self._data = data

    @classmethod
    def read(
        cls,
        source: Any,
        *,
        target: str | None = None,
        kinds: Kinds | None = None,
        lg_k: int | None = None,
        seed: int = DEFAULT_SEED,
    ) -> SketchSet:
        """Read a set from files or tables.

        Parameters
        ----------
        source
            A Parquet or CSV path, an Arrow table of the long form, a list of any of these (parts, which are
            merged), or a dict from class label to one of these; the label None stands for all keys.
        target
            For one CSV of class-free sketches: rows named ``target=label`` are the classes.
        kinds
            Kind by feature, where the source does not declare it. In CSV files, names such as ``color=red``
            or ``age<=30`` are values of a feature only if its kind is declared here; otherwise each is a
            flag. ``"verify"`` takes such names apart and tells every kind from the hashes.
        lg_k
            What the sketches are trimmed to when merged, where the source does not say.
        seed
            The hash seed of the sketches.
        """
        return cls(read.read(source, target=target, kinds=kinds, lg_k=lg_k, seed=seed))

    @classmethod
    def from_sketches(
        cls,
        sketches: Mapping[Any, Mapping[Any, Any]],
        *,
        kinds: Kinds | None = None,
        lg_k: int | None = None,
        seed: int = DEFAULT_SEED,
    ) -> SketchSet:
        """Make a set of sketches in memory.

        Parameters
        ----------
        sketches
            ``{class: {"total": s, name: present or (present, absent)}}``. The class ``"total"`` or None
            stands for all keys. A name is a flag's, or a pair (feature, value). A sketch is a datasketches
            object, bytes, or text.
        kinds
            Kind by feature, for features given as pairs; what is not declared is verified from the hashes.
            Text names are taken apart as in `read`.
        lg_k
            What the sketches are trimmed to when merged.
        seed
            The hash seed of the sketches.
        """
        return cls(named.from_sketches(sketches, kinds=kinds, lg_k=lg_k, seed=seed))

    def write(self, path: str | Path, *, version: int = 3) -> None:
        """Write the long table as Parquet, with DataSketches' serial version 3 or 4.

        The file appears whole or not at all.
        """
        if Path(path).suffix.lower() in _NOT_PARQUET:
            raise SketchSetError(f"{path}: a sketch set is written as Parquet; name the file .parquet")
        table.write_parquet(self._data, path, version=version)

    def to_arrow(self, *, version: int = 3) -> pa.Table:
        """Give the long table, its metadata in the schema."""
        return table.to_arrow(self._data, version=version)

    def merge(self, *others: SketchSet) -> SketchSet:
        """Unite with other sets: partitions, days, owners with features of their own.

        Any order and grouping gives the same bytes, those of one pass over all rows. Sets must agree on key,
        target, hash and form, and on the edges of the features that they share.
        """
        return SketchSet(_merge.merge([self._data, *(other._data for other in others)])) if others else self

    def counts(self, level: float = 0.95) -> pd.DataFrame:
        """Give what each sketch counts: class, feature, value, absent, estimate, lower, upper, theta,
        held.
        """
        return _counts.counts(self._data, level)

    def describe(self) -> str:
        """Say what is in the set, and what it can not resolve."""
        return _describe.describe(self._data)

    def select(self, features: Iterable[str]) -> SketchSet:
        """Keep these features only."""
        wanted = set(features)
        missing = sorted(wanted - set(self.features))
        if missing:
            raise SketchSetError(f"no feature {missing[0]!r} in the set; it has {_some(self.features)}")
        old = [i for i, feature in enumerate(self._data.features) if feature.name in wanted]
        new = {NONE: NONE, **{i: j for j, i in enumerate(old)}}
        keys = self._data.entries.keys
        kept = [i for i, key in enumerate(keys) if key.feature in new]
        entries = Entries(
            tuple(keys[i]._replace(feature=new[keys[i].feature]) for i in kept), self._data.entries.n[kept]
        )
        described = tuple(self._data.features[i] for i in old)
        return SketchSet(
            replace(self._data, features=described, entries=entries, column=self._data.column.take(kept))
        )

    def folds(self, n: int, *, seed: int = 0) -> list[tuple[SketchSet, SketchSet]]:
        """Split the keys n ways: pairs of (all but one fold, that fold), for validation.

        A key is in the same fold in every sketch, and which one has nothing to do with how small its hash is.
        Folds of another seed are independent: split a fold again with a seed of its own.
        """
        if n < 2:
            raise SketchSetError(f"folds({n}): at least 2 folds are needed")
        fold, seed = self._data.column.fold, _checked_seed(seed)
        return [
            (self._part(fold(n, i, keep=False, seed=seed)), self._part(fold(n, i, keep=True, seed=seed)))
            for i in range(n)
        ]

    def split(self, share: float, *, seed: int = 0) -> tuple[SketchSet, SketchSet]:
        """Split the keys in two: (the others, about such a share of them).

        Examples
        --------
        >>> import pandas as pd
        >>> from thetatree import sketch
        >>> frame = pd.DataFrame({"id": range(1000), "vip": [True, False] * 500, "y": [0, 1] * 500})
        >>> rest, part = sketch(frame, key="id", target="y").split(0.25)
        >>> [len(one.sketch(0)[0]) + len(one.sketch(1)[0]) for one in (rest, part)]
        [756, 244]
        """
        if isinstance(share, (bool, str)) or not 0 < share < 1:
            raise SketchSetError(f"split({share!r}): give a share between 0 and 1, both excluded")
        take, seed = self._data.column.share, _checked_seed(seed)
        return (
            self._part(take(float(share), keep=False, seed=seed)),
            self._part(take(float(share), keep=True, seed=seed)),
        )

    def _part(self, column: SketchColumn) -> SketchSet:
        entries = Entries(self._data.entries.keys, np.where(column.exact, column.held, -1))
        return SketchSet(replace(self._data, entries=entries, column=column))

    def sketch(
        self,
        label: Label | None = None,
        feature: str | None = None,
        value: str | None = None,
        *,
        absent: bool = False,
    ) -> tuple[np.ndarray[Any, np.dtype[np.uint64]], float]:
        """Give the held hashes and θ of one sketch; no feature is the total, no value the feature's known
        keys.
        """
        if label is not None and label not in self.classes:
            raise SketchSetError(
                f"no class {label!r} in the set; it has {_some(list(map(repr, self.classes)))}"
            )
        if feature is not None and feature not in self.features:
            raise SketchSetError(f"no feature {feature!r} in the set; it has {_some(self.features)}")
        klass = -1 if label is None else self.classes.index(label)
        index = NONE if feature is None else self.features.index(feature)
        values = () if feature is None else self._data.features[index].values
        if value is not None and value not in values:
            raise SketchSetError(f"feature {feature!r} has no value {value!r}; it has {_some(values)}")
        at = NONE if value is None else values.index(value)
        found = self._data.entries.index.get(EntryKey(klass, index, at, absent))
        if found is None:
            raise SketchSetError(
                f"no such sketch in a set of the form {self.form}: {label!r}, {feature!r}, {value!r}"
            )
        return self._data.column[found], float(self._data.column.theta[found])

    @property
    def data(self) -> SketchData:
        """The entries and their sketches."""
        return self._data

    @property
    def form(self) -> Form:
        """per_class, one_vs_all or class_free."""
        return self._data.form

    @property
    def classes(self) -> tuple[Label, ...]:
        """The class labels, sorted."""
        return self._data.classes

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features, sorted."""
        return tuple(feature.name for feature in self._data.features)

    @property
    def kinds(self) -> dict[str, Kind]:
        """What each feature is: flag, category, multi or threshold."""
        return {feature.name: feature.kind for feature in self._data.features}

    @property
    def edges(self) -> dict[str, tuple[float, ...]]:
        """The cuts of each threshold feature."""
        return {feature.name: feature.edges for feature in self._data.features if feature.kind == "threshold"}

    @property
    def origin(self) -> Origin:
        """Key, target, lg_k, seed and hash family."""
        return self._data.origin

    def feature(self, name: str) -> Feature:
        """Describe one feature."""
        if name not in self.features:
            raise SketchSetError(f"no feature {name!r} in the set; it has {_some(self.features)}")
        return self._data.features[self.features.index(name)]

    def __eq__(self, other: object) -> bool:
        """Sets are equal if they say the same of the same keys, hash by hash."""
        if not isinstance(other, SketchSet):
            return NotImplemented
        a, b = self._data, other._data
        return (
            (a.form, a.classes, a.features, a.origin) == (b.form, b.classes, b.features, b.origin)
            and a.entries.keys == b.entries.keys
            and a.column.same(b.column)
        )

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self._data.entries)

    def _repr_html_(self) -> str:
        """Return the set for a notebook."""
        from thetatree.report.notebook import sketches_html

        return sketches_html(self._data)

    def __repr__(self) -> str:
        held = len(self._data.column.hashes)
        return (
            f"SketchSet({self.form}, classes={self.classes!r}, features={len(self.features)}, "
            f"sketches={len(self)}, held={held})"
        )


_NOT_PARQUET = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".arrow", ".feather", ".ipc", ".xlsx")


def _checked_seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 1 << 63:
        raise SketchSetError(f"seed={seed!r} must be a whole number from 0 to 2^63 - 1")
    return int(seed)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f", … {len(names)} in all" if len(names) > 5 else "") or "none"
