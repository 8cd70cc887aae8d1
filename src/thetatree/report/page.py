"""The report: one HTML file that holds everything it needs."""

from __future__ import annotations

import html
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from thetatree.export.model import tree_of
from thetatree.files import write_whole
from thetatree.report.payload import payload

# One script in the page, so that they share their names; in the order in which they build on each other.
_SCRIPTS = ("model.js", "picture.js", "walk.js", "side.js", "tables.js", "charts.js", "main.js")


def write_report(
    model: Any, path: str | Path, data: Any = None, *, title: str | None = None, note: str | None = None
) -> Path:
    """Write a report on a fitted estimator or a tree; return its path.

    Parameters
    ----------
    model : estimator or Tree
        What is reported.
    path : str or Path
        The file, which appears whole or not at all.
    data : (X, y), optional
        Rows that the tree is judged on: gains, ROC and calibration, and what each node holds of them.
    title : str, optional
        The heading.
    note : str, optional
        A line below the heading: whom it is for, what the data are, a date. Nothing that changes from run to
        run is written of itself: the same model gives the same bytes.
    """
    text = page(model, data, title=title, note=note)
    write_whole(Path(path), text.encode())
    return Path(path)


def page(model: Any, data: Any = None, *, title: str | None = None, note: str | None = None) -> str:
    """Return the report as HTML."""
    tree = tree_of(model)
    content = payload(model, tree, title, note)
    if data is not None:
        from thetatree.report.judged import judged

        content["data"] = judged(model, tree, data)
    parts = {
        "title": html.escape(content["title"]),
        "css": _part("report.css"),
        "js": "\n".join(_part(name) for name in _SCRIPTS),
        "data": for_script(content),
    }
    out = _part("template.html")
    # One pass, so that nothing in a part is taken for another part's place.
    head, *rest = out.split("{{")
    pieces = [head]
    for piece in rest:
        name, _, after = piece.partition("}}")
        pieces += [parts[name], after]
    return "".join(pieces)


def _part(name: str) -> str:
    return (files("thetatree.report") / "web" / name).read_text(encoding="utf-8")


def for_script(value: Any) -> str:
    r"""Return JSON that can stand in a script element: no text in it can end the element or open a comment.

    Examples
    --------
    >>> for_script({"name": "</script><!--"})
    '{"name":"\\u003c/script\\u003e\\u003c!--"}'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
