"""What is to be sketched, said once for every engine: tables, key, target, features and their kinds.

unit: one sketch to be made for each class: a value of a feature, a feature's known keys, or the total.
listed: a category whose values are given; of the others the engine finds the values by a GROUP BY.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from thetatree.sketch.errors import BuildError
from thetatree.sketch.keys import KeyType
from thetatree.sketch.kinds import OTHER, Kind, check_kind, cut_text

Counts = Literal["distinct", "rows"] | None
Features = Sequence[str] | Mapping[str, Any]
Lists = Sequence[str] | Mapping[str, str | None]

KEY_TYPES: tuple[KeyType, ...] = ("int", "text", "float")


@dataclass(frozen=True)
class Asked:
    """One feature.

    Attributes
    ----------
    name
        Its column.
    kind
        flag, category, multi or threshold.
    edges
        The cuts of a threshold, ascending.
    values
        The values of a category or multi, if they are given; None: those that occur.
    not_null
        Whether every row is declared to have a value.
    separator
        What stands between the values of one row, "" if they are an array; None: a row has one value.
    """

    name: str
    kind: Kind
    edges: tuple[float, ...] = ()
    values: tuple[str, ...] | None = None
    not_null: bool = False
    separator: str | None = None

    @property
    def listed(self) -> bool:
        """Whether its sketches are known before any row is read."""
        return self.kind in ("flag", "threshold") or self.values is not None

    @property
    def complete(self) -> bool:
        """Whether every known key has one of the values."""
        return self.kind == "category" and (self.values is None or OTHER in self.values)

    def texts(self) -> tuple[str, ...]:
        """Give the values as the long table writes them."""
        if self.kind == "flag":
            return ("1",)
        return tuple(map(cut_text, self.edges)) if self.kind == "threshold" else self.values or ()


@dataclass(frozen=True)
class Table:
    """A table and its features."""

    source: str
    features: tuple[Asked, ...]


@dataclass(frozen=True)
class Request:
    """What is to be sketched.

    Attributes
    ----------
    tables
        One; or several that share the key, of which the first has the target.
    key, target
        Columns; no target makes class-free sketches.
    lg_k
        Each sketch holds at most 2^lg_k hashes.
    key_type
        What keys are hashed as.
    counts
        Exact counts: "distinct" of the totals, "rows" of everything where each key has one row, or None.
    sums
        The sketches carry the target, a number, over all keys.
    """

    tables: tuple[Table, ...]
    key: str
    target: str | None
    lg_k: int
    key_type: KeyType
    counts: Counts
    sums: bool = False  # the target is a number that every key carries

    @property
    def class_free(self) -> bool:
        """Whether features are sketched over all keys."""
        return self.target is None or self.sums or len(self.tables) > 1

    @property
    def features(self) -> tuple[Asked, ...]:
        """The features of all tables."""
        return tuple(feature for table in self.tables for feature in table.features)


def make_request(
    table: str | Sequence[str],
    key: str,
    target: str | None,
    features: Any,
    *,
    lg_k: int = 12,
    edges: Mapping[str, Sequence[float]] | None = None,
    values: Mapping[str, Sequence[str]] | None = None,
    not_null: Sequence[str] = (),
    key_type: KeyType = "int",
    counts: Counts = "distinct",
    sums: bool = False,
    cuts: bool = True,
    lists: Lists = (),
) -> Request:
    """Check what is asked for; see `thetatree.engine.sql` for what each argument means.

    `cuts=False`: thresholds need no edges, since numbers are wanted as they are.
    """
    if not 4 <= lg_k <= 26:
        raise BuildError(f"lg_k={lg_k} is outside 4 to 26; 12 holds 4096 hashes for each sketch")
    if key_type not in KEY_TYPES:
        raise BuildError(f"key_type={key_type!r} is none of {', '.join(KEY_TYPES)}")
    if counts not in ("distinct", "rows", None):
        raise BuildError(f"counts={counts!r} is none of 'distinct', 'rows', None")
    given = dict(edges or {}), dict(values or {}), frozenset(not_null), separators(lists)
    tables: tuple[Table, ...]
    if isinstance(table, str):
        tables = (Table(table, asked(features, *given, reserved=(key, target), cuts=cuts)),)
    else:
        tables = _several(table, features, given, (key, target))
    names = [feature.name for one in tables for feature in one.features]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BuildError(f"feature {twice[0]!r} is asked for twice; name it in one table only")
    for what, by_name in (
        ("edges", edges or {}),
        ("values", values or {}),
        ("not_null", not_null),
        ("lists", lists),
    ):
        unknown = sorted(set(by_name) - set(names))
        if unknown:
            raise BuildError(f"{what}= names {unknown[0]!r}, which is not a feature")
    return Request(tables, key, target, lg_k, key_type, counts, sums)


def _several(tables: Sequence[str], features: Any, given: Any, reserved: Any) -> tuple[Table, ...]:
    if not tables:
        raise BuildError("there is no table; name at least one")
    if not isinstance(features, Mapping) or set(features) != set(tables):
        raise BuildError(
            "for several tables, features is a dict from each table to its features: "
            f"{{{', '.join(f'{name!r}: [...]' for name in tables)}}}"
        )
    return tuple(Table(name, asked(features[name], *given, reserved=reserved)) for name in tables)


def asked(
    features: Features,
    edges: Mapping[str, Sequence[float]],
    values: Mapping[str, Sequence[str]],
    not_null: frozenset[str] = frozenset(),
    lists: Mapping[str, str] | None = None,
    *,
    reserved: Sequence[str | None],
    cuts: bool = True,
) -> tuple[Asked, ...]:
    """Settle each feature's kind: edges make a threshold, values a category; the rest are flags."""
    found = []
    for name in features:
        if name in reserved:
            raise BuildError(f"column {name!r} is the key or the target; leave it out of features=")
        kind = features[name] if isinstance(features, Mapping) else None
        kind = _implied(name, edges, values) if kind is None else check_kind(name, kind)
        ends = tuple(float(edge) for edge in edges.get(name, ()))
        if kind == "threshold" and not _ascending(ends) and (cuts or ends):
            raise BuildError(f"feature {name!r} is a threshold: give its edges, finite and ascending")
        if (kind != "threshold" and ends) or (kind in ("flag", "threshold") and name in values):
            what = (
                "edges are for a threshold" if ends and kind != "threshold" else "values are for a category"
            )
            raise BuildError(f"feature {name!r} is a {kind}; {what}")
        listed = tuple(dict.fromkeys(map(str, values[name]))) if name in values else None
        if listed is not None and (not listed or "" in listed):
            raise BuildError(f"feature {name!r}: its values are empty, or one of them is; leave them out")
        separator = (lists or {}).get(name)
        if separator is not None and kind != "multi":
            raise BuildError(
                f"feature {name!r} is a {kind}; lists are for a multi: features={{{name!r}: 'multi'}}"
            )
        found.append(Asked(name, kind, ends, listed, name in not_null, separator))
    return tuple(found)


def separators(lists: Lists) -> dict[str, str]:
    """Say of each list what separates its values; of arrays it is an empty text."""
    if not isinstance(lists, Mapping):
        return dict.fromkeys(lists, "")
    odd = [
        name for name, mark in lists.items() if mark is not None and (not isinstance(mark, str) or not mark)
    ]
    if odd:
        raise BuildError(f"lists={{{odd[0]!r}: {lists[odd[0]]!r}}}: a separator is text; None for an array")
    return {name: mark or "" for name, mark in lists.items()}


def _implied(name: str, edges: Mapping[str, Any], values: Mapping[str, Any]) -> Kind:
    return "threshold" if name in edges else "category" if name in values else "flag"


def _ascending(cuts: Sequence[float]) -> bool:
    finite = all(math.isfinite(cut) for cut in cuts)
    return bool(cuts) and finite and all(a < b for a, b in pairwise(cuts))
