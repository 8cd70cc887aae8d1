"""Sliding windows over a folder of dated parts.

part: the sketches of one day, or of some of its rows. A sketch can not be subtracted from another (a key that
leaves Monday's rows may still be in Tuesday's), so a window is united anew from the parts that are in it, and
an old day is forgotten by leaving its parts out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

from thetatree.sketch.errors import SketchSetError

_SUFFIXES = (".parquet", ".pq", ".csv")
_DATE = re.compile(r"(?<!\d)(\d{4})-?(\d{2})-?(\d{2})(?!\d)")


class Window(NamedTuple):
    """The parts of a folder, by day.

    Attributes
    ----------
    parts : list of Path
        Those in the window, the oldest first.
    older : list of Path
        Those that are forgotten.
    first, last : date
        The days that the window begins and ends with.
    """

    parts: list[Path]
    older: list[Path]
    first: date
    last: date


def window(folder: str | Path, *, keep: int | None = None, days: int | None = None) -> Window:
    """Find which dated parts of a folder are in a sliding window.

    Parameters
    ----------
    folder
        Parquet or CSV files with a date in their names, such as ``2026-11-19.parquet`` or
        ``visits_20261119_2.parquet``, or in folders named by day, such as ``day=2026-11-19/part-0.parquet``.
        A day may have several.
    keep
        Keep the latest so many days that have a part.
    days
        Keep the parts of so many days of the calendar, up to the latest part's. Without `keep` and `days` all
        parts are kept.

    Returns
    -------
    Window
        ``parts``, to be given to `SketchSet.read`, and ``older``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> for day in ("2026-11-16", "2026-11-18", "2026-11-19"):
    ...     (folder / f"{day}.parquet").touch()
    >>> [part.stem for part in window(folder, keep=2).parts]
    ['2026-11-18', '2026-11-19']
    >>> [part.stem for part in window(folder, days=4).parts]
    ['2026-11-16', '2026-11-18', '2026-11-19']
    """
    for name, count in (("keep", keep), ("days", days)):
        if count is not None and count < 1:
            raise SketchSetError(f"{name}={count}: a window has at least one day")
    if keep is not None and days is not None:
        raise SketchSetError("give keep (days that have a part) or days (of the calendar), not both")
    dated = sorted((_day_of(path, Path(folder)), path) for path in _parts(Path(folder)))
    if not dated:
        raise SketchSetError(f"{folder} has no part: no file that ends in {', '.join(_SUFFIXES)}")
    present = sorted({day for day, _ in dated})
    first, last = present[0], present[-1]
    if keep is not None:
        first = present[-keep:][0]
    if days is not None:
        first = last - timedelta(days - 1)
    return Window(
        [path for day, path in dated if day >= first],
        [path for day, path in dated if day < first],
        first,
        last,
    )


def _parts(folder: Path) -> Iterator[Path]:
    """Every file of a form that sketches come in; what is being written has a name that begins with a dot."""
    if not folder.is_dir():
        raise SketchSetError(f"{folder} is no folder; name the one that the dated parts are in")
    for path in folder.rglob("*"):
        hidden = any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
        if path.suffix.lower() in _SUFFIXES and path.is_file() and not hidden:
            yield path


def _day_of(path: Path, folder: Path) -> date:
    """The date in a file's name, else in the nearest folder's."""
    for name in reversed(path.relative_to(folder).parts):
        found = _DATE.search(name)
        if found is not None:
            try:
                return date(*map(int, found.groups()))
            except ValueError:
                break
    raise SketchSetError(
        f"{path}: its name has no date; parts are named by their day, such as 2026-11-19.parquet"
    )
