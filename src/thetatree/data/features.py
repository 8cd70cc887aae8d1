"""What a tree knows of a column: its name, its kind and, for a category, its labels.

Three kinds:

* ``flag``: true or false; its test is presence. A flag that is one tag of a column of lists has that tag as
  its only label;
* ``number``: its test is a threshold;
* ``category``: one of a set of labels; its test is membership. A label's code is its place in ``labels``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["flag", "number", "category"]
Label: TypeAlias = str | int | float | bool


@dataclass(frozen=True)
class Feature:
    """A column as the tree remembers it.

    `gaps` says that training rows had missing values there, `unlisted` that some had values of a category
    that are none of the labels: those were counted, and a value never seen is taken for one of them.
    """

    name: str
    kind: Kind
    labels: tuple[Label, ...] = ()
    gaps: bool = False
    unlisted: bool = False
