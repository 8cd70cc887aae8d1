"""What the values of a feature are to each other. Declared, or verified from the hashes; never guessed from
names.

flag: one value, "1". category: values that exclude each other. multi: several values may hold for one key.
threshold: ordered cuts, "<=30" lying inside "<=40".
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, cast, get_args

from thetatree.sketch.errors import SketchFormatError, SketchSetError

Kind = Literal["flag", "category", "multi", "threshold"]
VERIFY: Final = "verify"  # every kind is to be told from the hashes
Kinds = Mapping[str, Kind] | Literal["verify"]
KINDS: tuple[str, ...] = get_args(Kind)
PRESENT = "1"
ABSENT = "0"
OTHER = "other"

_CUT = re.compile(r"<=\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf)")


@dataclass(frozen=True)
class Feature:
    """One feature of a sketch set.

    Attributes
    ----------
    name
        Its column in the data.
    kind
        flag, category, multi or threshold.
    values
        The texts its sketches are kept under: sorted, or ascending by edge for a threshold.
    edges
        For a threshold: the cut of each value.
    lg_k
        Its sketches hold at most 2^lg_k hashes; None where that was not declared.
    complete
        For a category: every known key has one of the values. The builder knows; hashes can not show it.
    complement
        Whether absent sketches may be what the known keys hold beside the present ones. After a merge they
        may not: a key absent on Monday can be present on Tuesday.
    """

    name: str
    kind: Kind
    values: tuple[str, ...]
    edges: tuple[float, ...] = ()
    lg_k: int | None = None
    complete: bool = False
    complement: bool = True

    def literal(self, value: str) -> str:
        """Give the test for a value as text: ``age<=30``, ``color=red``, or a flag's own name."""
        if self.kind == "flag":
            return self.name
        return f"{self.name}{value}" if self.kind == "threshold" else f"{self.name}={value}"

    def with_values(self, values: Sequence[str]) -> Feature:
        """Give the feature with these values, in its kind's order."""
        if self.kind != "threshold":
            return replace(self, values=tuple(sorted(values)))
        ordered = sorted(values, key=lambda value: edge_of(self.name, value))
        return replace(
            self, values=tuple(ordered), edges=tuple(edge_of(self.name, value) for value in ordered)
        )


def cut_text(edge: float) -> str:
    """Write a threshold's value: ``<=30`` for 30.0, the shortest text that reads back as the same number."""
    whole = float(edge).is_integer() and abs(edge) < 1e15
    return f"<={int(edge)}" if whole else f"<={float(edge)!r}"


def is_cut(value: str) -> bool:
    """Whether a value's text is a cut."""
    return _CUT.fullmatch(value) is not None


def edge_of(feature: str, value: str) -> float:
    """Read a cut."""
    match = _CUT.fullmatch(value)
    edge = float(match.group(1)) if match else math.nan
    if not math.isfinite(edge):
        raise SketchFormatError(
            f"feature {feature!r}, value {value!r}: a threshold's values are finite cuts such as '<=30'; "
            "write them so, or declare the feature a category"
        )
    return edge


def check_kind(feature: str, kind: Any) -> Kind:
    """Give a declared kind back, if there is such a kind."""
    if kind not in KINDS:
        raise SketchSetError(f"feature {feature!r}: kind {kind!r} is none of {', '.join(KINDS)}")
    return cast(Kind, kind)


def check_kinds(kinds: Mapping[str, Any] | str | None) -> dict[str, Kind]:
    """Check declared kinds by feature name; where they are to be verified, none is declared."""
    if isinstance(kinds, str):
        if kinds != VERIFY:
            raise SketchSetError(f"kinds={kinds!r}; give a dict from feature to kind, or 'verify'")
        return {}
    return {name: check_kind(name, kind) for name, kind in (kinds or {}).items()}


def split_name(name: str, kinds: Kinds) -> tuple[str, str]:
    """Split a sketch's name into feature and value, if the feature's kind is declared or to be verified.

    Any other name is a flag's. Only ``=`` and ``<=`` part a name: ``x>=3`` is always a flag.
    """
    for match in re.finditer(r"<=|(?<![<>!=])=", name):
        feature, value = name[: match.start()], name[match.start() :]
        kind = None if kinds == VERIFY else kinds.get(feature)
        if feature and is_cut(value) and (kind == "threshold" or kinds == VERIFY):
            return feature, value
        if (
            feature
            and value[:1] == "="
            and value != "="
            and (kind in ("category", "multi") or kinds == VERIFY)
        ):
            return feature, value[1:]
    return name, PRESENT
