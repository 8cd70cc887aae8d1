"""What somebody may have meant by a name that is not there."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def meant(name: str, known: Iterable[str]) -> str:
    """Return a question after the closest known name, upper and lower case being the same; else nothing.

    Examples
    --------
    >>> meant("Plan", ["plan", "age"])
    "; did you mean 'plan'?"
    >>> meant("weight", ["plan", "age"])
    ''
    """
    by_text = {one.casefold(): one for one in known}
    close = difflib.get_close_matches(name.casefold(), list(by_text), 1)
    return f"; did you mean {by_text[close[0]]!r}?" if close else ""
