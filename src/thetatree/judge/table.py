"""A table of figures that prints, shows itself in a notebook, gives its data frame and draws itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from thetatree.export.aligned import aligned

if TYPE_CHECKING:
    import pandas as pd

_MOST_LINES = 60
_TITLE_WIDTH = 50
_WORDS = "rule"  # the heading of a column of words


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Figures under a title.

    Attributes
    ----------
    title : str
        What the table shows.
    frame : DataFrame
        All figures, unrounded.
    cells : dict
        What is printed: the texts of each column, by heading. Rules are set to the left, figures right.
    notes : tuple of str
        Lines below the table.
    """

    title: str
    frame: pd.DataFrame
    cells: Mapping[str, list[str]]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        rows = [list(self.cells), *self._shown()]
        lines = aligned(rows if self._ends_in_words else [[*row, ""] for row in rows])
        more = len(self.frame) - _MOST_LINES
        if more > 0:
            lines.append(f"  ... {more:,} more lines: .frame has them all")
        return "\n".join([self.title, *lines, *self.notes])

    __repr__ = __str__

    @property
    def _ends_in_words(self) -> bool:
        return list(self.cells)[-1] == _WORDS

    def _shown(self) -> list[list[str]]:
        columns = [texts[:_MOST_LINES] for texts in self.cells.values()]
        return [list(row) for row in zip(*columns, strict=True)]

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        head = "".join(f"<th>{escape(heading)}</th>" for heading in self.cells)
        left = len(self.cells) - 1 if self._ends_in_words else -1
        body = "".join(
            "<tr>"
            + "".join(
                f'<td style="text-align:{"left" if i == left else "right"}">{escape(text)}</td>'
                for i, text in enumerate(row)
            )
            + "</tr>"
            for row in zip(*self.cells.values(), strict=True)
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return (
            f'<table class="thetatree"><caption>{escape(self.title)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the table with matplotlib and return the axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        axes = new_axes() if ax is None else ax
        self._draw(axes)
        axes.set_title("\n".join(wrap(self.title, _TITLE_WIDTH)))
        return axes

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError


def new_axes(size: tuple[float, float] | None = None) -> Any:
    """Return the axes of a new figure, of so many inches."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'thetatree[plot]'") from error
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def percent(values: Iterable[float], decimals: int = 1) -> list[str]:
    """Write shares; a dash where there is none."""
    return [f"{value:.{decimals}%}" if np.isfinite(value) else "–" for value in values]


def whole(values: Iterable[float]) -> list[str]:
    """Write numbers without decimals."""
    return [f"{value:,.0f}" if np.isfinite(value) else "–" for value in values]


def figures(values: Iterable[float], digits: int = 4) -> list[str]:
    """Write numbers with so many significant digits."""
    return [f"{value:,.{digits}g}" if np.isfinite(value) else "–" for value in values]


def fixed(values: Iterable[float], decimals: int = 2) -> list[str]:
    """Write numbers with so many decimals."""
    return [f"{value:.{decimals}f}" if np.isfinite(value) else "–" for value in values]


def counted(n: float, what: str) -> str:
    """Write a number with its noun, which takes an s but for one."""
    return f"{n:,.0f} {what}" if round(n) != 1 else f"1 {what.removesuffix('s')}"
