"""Figures in columns, as every printed table here has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    r"""Return the rows in columns, figures to the right and the last column to the left.

    Examples
    --------
    >>> print(*aligned([["n", "test"], ["1,200", "age ≤ 30"]]), sep="\n")
          n  test
      1,200  age ≤ 30
    """
    rows = list(rows)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    lines = []
    for row in rows:
        figures = [cell.rjust(width) for cell, width in zip(row[:-1], widths, strict=True)]
        lines.append("  ".join(["", *figures, row[-1]]).rstrip())
    return lines
