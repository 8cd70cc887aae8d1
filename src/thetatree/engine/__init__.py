"""Engines: sketches made where the rows are, from a file on a laptop to a cluster.

`sql` writes the query for a warehouse; `from_sketches`, `from_hashes`, `from_rows` and `from_sums` read its
answer. `thetatree.engine.spark` asks Spark itself. `window` finds the parts of the last days, and `refresh`
grows a model again from newer sketches.
"""

from thetatree.engine.answer import from_hashes, from_rows, from_sketches, from_sums
from thetatree.engine.refresh import Refreshed, refresh
from thetatree.engine.warehouse import sql
from thetatree.engine.window import Window, window

__all__ = [
    "Refreshed",
    "Window",
    "from_hashes",
    "from_rows",
    "from_sketches",
    "from_sums",
    "refresh",
    "sql",
    "window",
]
